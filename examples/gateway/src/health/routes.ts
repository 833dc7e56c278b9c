import { sql } from 'kysely'
import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import type { Db } from '../db/schema.ts'
import { envelope, success } from '../http/envelope.ts'
import { HttpError } from '../http/http-error.ts'
import { type Route, route } from '../http/route.ts'

const healthAnswer = envelope(z.object({ status: z.literal('ok'), version: z.string() }))
const aliveAnswer = z.object({ status: z.literal('alive') })
const readyAnswer = z.object({ status: z.literal('ready') })

/** Whether the gateway is there; free, and open to everybody. */
export function healthRoutes(db: Db): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/health',
      access: 'public',
      answer: healthAnswer,
      handle: () => ({ body: success({ status: 'ok' as const, version: packageJson.version }) }),
    }),
    route({
      method: 'get',
      path: '/healthz',
      access: 'public',
      answer: aliveAnswer,
      handle: () => ({ body: { status: 'alive' as const } }),
    }),
    route({
      method: 'get',
      path: '/readyz',
      access: 'public',
      answer: readyAnswer,
      async handle() {
        await sql`select 1`.execute(db).catch((cause: unknown) => {
          throw new HttpError('quota_unavailable', 'The database does not answer.', { cause })
        })
        return { body: { status: 'ready' as const } }
      },
    }),
  ]
}
