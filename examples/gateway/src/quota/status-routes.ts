import type { QuotaStatus } from '@scoregw/quota'
import { quotaStatusBody } from '@scoregw/quota/http'
import { BEIJING_TIME_ZONE } from '@scoregw/quota/score-gateway'
import { type Route, userRoute } from '../http/route.ts'
import { type StatusDocument, statusDocument } from './documents.ts'
import { CATEGORIES, limitsIn, placeOf } from './names.ts'
import type { GatewayQuota, Tokens } from './policy.ts'

/** The specified body of a status. */
export function statusBody(status: QuotaStatus<Tokens>): StatusDocument {
  const limits = Object.entries(quotaStatusBody(status).limits)
  const all = limits.map(([name, limit]) => ({ ...placeOf(name), ...limit }))
  const windows = CATEGORIES.map((category) => [category, all.filter((each) => each.category === category)])
  return statusDocument.parse({ windows: Object.fromEntries(windows), timeZone: BEIJING_TIME_ZONE })
}

/** The personal limit of which a user has used the largest share; `null` if the counters are unavailable. */
export async function tightestOf(
  quota: GatewayQuota,
  userId: string,
): Promise<{ readonly name: string; readonly limit: number; readonly used: number } | null> {
  const status = await quota.status(userId).catch(() => null)
  if (status === null) return null
  const uses = limitsIn('personal').flatMap((name) => {
    const { limit, used } = status.limits[name] ?? {}
    return typeof limit === 'number' && used !== undefined ? [{ name, limit, used }] : []
  })
  // A limit of 0 is used up.
  const shareOf = ({ limit, used }: { limit: number; used: number }): number => (limit === 0 ? 1 : used / limit)
  return uses.sort((a, b) => shareOf(b) - shareOf(a))[0] ?? null
}

/** The caller's quota, and its older path. */
export function statusRoutes(quota: GatewayQuota): Route[] {
  return (['/me/quota', '/quota'] as const).map((path) =>
    userRoute(`GET ${path}`, {
      id: path === '/quota' ? 'quotaStatusAlias' : 'quotaStatus',
      tag: 'Quota',
      summary: path === '/quota' ? "The caller's quota, by its older path" : "The caller's quota",
      description: 'Used and remaining tokens of the caller, window by window.',
      errors: ['quota_unavailable'],
      answer: statusDocument,
      handle: async ({ user }) => ({ body: statusBody(await quota.status(user.id)) }),
    }),
  )
}
