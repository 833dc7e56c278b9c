import { type Quota, quotaStatusBody } from '@scoregw/quota'
import * as z from 'zod'
import { type Route, route } from '../http/route.ts'
import type { OperationName } from './policy.ts'

const instant = z.iso.datetime({ precision: 3 }).nullable()

const windowStatus = z.object({
  scope: z.string(),
  window: z.string(),
  limit: z.union([z.int(), z.literal('unlimited')]),
  used: z.int(),
  remaining: z.union([z.int(), z.literal('unlimited')]),
  startedAt: instant,
  resetAt: instant,
})

/** What a user has used and has left. */
export const statusAnswer = z.object({
  windows: z.record(z.string(), z.array(windowStatus).readonly()).readonly(),
  timeZone: z.string(),
})

/** A user's own quota; free. `/quota` is there for older clients. */
export function statusRoutes(quota: Quota<OperationName>): Route[] {
  return ['/me/quota', '/quota'].map((path) =>
    route({
      method: 'get',
      path,
      access: 'user',
      answer: statusAnswer,
      async handle({ user }) {
        return { body: quotaStatusBody(await quota.status(user.id)) }
      },
    }),
  )
}
