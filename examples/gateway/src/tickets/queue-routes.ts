import * as z from 'zod'
import { envelope, success } from '../http/envelope.ts'
import { type Route, route } from '../http/route.ts'

/** For clients of gateways whose purchases take their time. */
export function queueRoutes(): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/charge/queue',
      docs: {
        id: 'listChargeQueue',
        tag: 'Ticket',
        summary: 'List pending purchases',
        description: 'Always empty: a purchase is complete when it is answered.',
      },
      access: 'user',
      answer: envelope(z.object({ length: z.int(), queue: z.array(z.object({ chargeId: z.int() })) })),
      operation: 'user.charge',
      handle: () => ({ body: success({ length: 0, queue: [] }) }),
    }),
  ]
}
