import type { Hold } from '@scoregw/quota'
import * as z from 'zod'
import type { AuditLog } from '../audit/audit.ts'
import { HttpError } from '../http/http-error.ts'
import { adminRoute, type Route } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import type { UserRepository } from '../users/user-repository.ts'
import { userParams } from './admin-routes.ts'
import { categoryOf, type GatewayQuota, type Tokens } from './policy.ts'

const PATH = '/admin/users/:id/quota/holds'

const holdDocument = z
  .object({
    ref: z.string().describe('Identifies the hold when you release it.'),
    operation: z.string(),
    category: z.string(),
    tokens: z.int().describe('Its tokens in every window.'),
    slot: z.boolean().describe('`true`: it has a concurrency slot.'),
    takenAt: isoInstant.describe('ISO 8601 UTC.'),
    endsAt: isoInstant.describe('When it expires and is refunded, unless it is extended.'),
  })
  .meta({ id: 'Hold' })

interface HoldDeps {
  readonly quota: GatewayQuota
  readonly users: UserRepository
  readonly audit: AuditLog
}

export function holdRoutes({ quota, users, audit }: HoldDeps): Route[] {
  return [
    adminRoute(`GET ${PATH}`, {
      id: 'listHolds',
      summary: "A user's open holds",
      description: 'Tokens and slots of requests in progress, by expiry.',
      errors: ['quota_unavailable'],
      params: userParams,
      answer: z.object({ items: z.array(holdDocument) }),
      async handle({ params: { id } }) {
        await users.require(id)
        return { body: { items: (await quota.holds.list(id)).map(holdBody) } }
      },
    }),
    adminRoute(`DELETE ${PATH}/:ref`, {
      id: 'releaseHold',
      summary: 'Release a hold',
      description: "Refunds its tokens and frees its slot immediately. Doesn't stop the work.",
      errors: ['not_found', 'quota_unavailable'],
      params: userParams.extend({ ref: z.string().describe('As in the list.') }),
      answer: z.undefined(),
      async handle({ params: { id, ref }, user }) {
        await users.require(id)
        const before = (await quota.holds.list(id)).find((hold) => hold.ref === ref)
        if (before === undefined) throw notOpen()
        // Recorded first: an entry without a release does less harm than a release without an entry.
        await audit.record(user.id, { action: 'hold.release', subject: id, before: holdBody(before), after: null })
        if (!(await quota.holds.release(id, ref))) throw notOpen()
        return { status: 204 }
      },
    }),
  ]
}

function holdBody(hold: Hold<Tokens>): z.output<typeof holdDocument> {
  const { ref, operation, tokens, slot, takenAt, endsAt } = hold
  const category = categoryOf(operation)
  return { ref, operation, category, tokens, slot, takenAt: instantText(takenAt), endsAt: instantText(endsAt) }
}

function notOpen(): HttpError {
  return new HttpError('not_found', 'The user has no such hold, or it has ended.')
}
