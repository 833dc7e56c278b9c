import type { Client } from 'openapi-fetch'
import type { components, paths } from './generated/gateway.ts'
import { dataOf } from './refused.ts'

type Answer = components['schemas']['OwnUsageAnswer']['businessData']

/** A request of one's own, as it ended. */
export type OwnRequest = Answer['items'][number]

/** Most requests to list. */
const LAST = 20

/** The last requests, the newest first, and what those of today came to. */
export async function readHistory(
  gateway: Client<paths>,
): Promise<{ readonly requests: readonly OwnRequest[]; readonly today: { requests: number; tokens: number } }> {
  const { businessData } = dataOf(await gateway.GET('/me/usage', { params: { query: { limit: LAST } } }))
  const stats = dataOf(await gateway.GET('/me/usage/stats', { params: { query: { days: 1 } } }))
  return { requests: businessData.items, today: stats.businessData.summary }
}

/** A request on one line, with the limit that refused it. */
export function requestText({ at, operation, status, tokens, refusal }: OwnRequest): string {
  const why = refusal === null ? '' : `  ${refusal.scope} ${refusal.window}: ${refusal.used} of ${refusal.limit} used`
  return `${at}  ${operation.padEnd(12)}  ${status}  ${`${tokens}`.padStart(4)}${why}`
}
