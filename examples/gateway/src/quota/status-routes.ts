import { type Quota, quotaStatusBody } from '@scoregw/quota'
import * as z from 'zod'
import { isoInstant } from '../http/instant.ts'
import { type Route, route } from '../http/route.ts'
import type { OperationName } from './policy.ts'

const instant = isoInstant.nullable()

const windowStatus = z
  .object({
    scope: z.string().describe('`Personal` or `Site`.'),
    window: z.string().describe('`1h`, `5h` or `1d`.'),
    limit: z.union([z.int(), z.literal('unlimited')]).describe('Tokens.'),
    used: z.int().describe('Tokens.'),
    remaining: z.union([z.int(), z.literal('unlimited')]).describe('Tokens, never below 0.'),
    startedAt: instant.describe('ISO 8601 UTC; `null`: nothing was charged in the window yet.'),
    resetAt: instant.describe('When the window ends, ISO 8601 UTC; `null`: it is not open.'),
  })
  .meta({ id: 'WindowStatus' })

const windowsOf = z.array(windowStatus).readonly()

/** What a user has used and has left. */
export const statusAnswer = z
  .object({
    windows: z
      .object({ read: windowsOf, write: windowsOf })
      .describe('By category: the personal windows, then the site-wide ones if they apply.'),
    timeZone: z.string().describe('Time zone of local times in texts.'),
  })
  .meta({ id: 'QuotaStatus' })

const DOCS = {
  '/me/quota': {
    id: 'quotaStatus',
    tag: 'Quota',
    summary: "The caller's quota",
    description: 'What the caller has used and has left, in tokens, window by window.',
    errors: ['quota_unavailable'],
  },
  '/quota': {
    id: 'quotaStatusAlias',
    tag: 'Quota',
    summary: "The caller's quota, by its older path",
    description: 'The same as `/me/quota`, for older clients.',
    errors: ['quota_unavailable'],
  },
} as const

/** A user's own quota; free. `/quota` is there for older clients. */
export function statusRoutes(quota: Quota<OperationName>): Route[] {
  return (['/me/quota', '/quota'] as const).map((path) =>
    route({
      method: 'get',
      path,
      docs: DOCS[path],
      access: 'user',
      answer: statusAnswer,
      async handle({ user }) {
        return { body: quotaStatusBody(await quota.status(user.id)) }
      },
    }),
  )
}
