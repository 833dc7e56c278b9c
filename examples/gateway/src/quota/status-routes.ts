import type { Quota, QuotaStatus } from '@scoregw/quota'
import { quotaStatusBody } from '@scoregw/quota/http'
import { BEIJING_TIME_ZONE } from '@scoregw/quota/score-gateway'
import { type Route, route } from '../http/route.ts'
import { type StatusDocument, statusDocument } from './documents.ts'
import type { OperationName } from './policy.ts'

export function statusBody(status: QuotaStatus): StatusDocument {
  return statusDocument.parse(quotaStatusBody(status, { timeZone: BEIJING_TIME_ZONE }))
}

/** The caller's quota, and its older path. */
export function statusRoutes(quota: Quota<OperationName>): Route[] {
  return (['/me/quota', '/quota'] as const).map((path) =>
    route({
      method: 'get',
      path,
      access: 'user',
      docs: {
        id: path === '/quota' ? 'quotaStatusAlias' : 'quotaStatus',
        tag: 'Quota',
        summary: path === '/quota' ? "The caller's quota, by its older path" : "The caller's quota",
        description: 'Used and remaining tokens of the caller, window by window.',
        errors: ['quota_unavailable'],
      },
      answer: statusDocument,
      handle: async ({ user }) => ({ body: statusBody(await quota.status(user.id)) }),
    }),
  )
}
