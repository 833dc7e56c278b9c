import type { Quota } from '@scoregw/quota'
import { quotaStatusBody } from '@scoregw/quota/http'
import { BEIJING_TIME_ZONE } from '@scoregw/quota/score-gateway'
import { type Route, route } from '../http/route.ts'
import type { OperationName } from './policy.ts'
import { statusSchema } from './status-documents.ts'
import { subjectsOf } from './subjects.ts'

const DOCS = {
  '/me/quota': {
    id: 'quotaStatus',
    tag: 'Quota',
    summary: "The caller's quota",
    description: 'Used and remaining tokens of the caller, window by window.',
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
  const answer = statusSchema(quota.policy)
  const subjectOf = subjectsOf(quota.policy)
  return (['/me/quota', '/quota'] as const).map((path) =>
    route({
      method: 'get',
      path,
      docs: DOCS[path],
      access: 'user',
      answer,
      async handle({ user }) {
        return { body: quotaStatusBody(await quota.status(subjectOf(user.id)), { timeZone: BEIJING_TIME_ZONE }) }
      },
    }),
  )
}
