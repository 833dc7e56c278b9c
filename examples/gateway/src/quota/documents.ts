import type { Policy, Quota } from '@scoregw/quota'
import * as z from 'zod'
import { instantText, isoInstant } from '../http/instant.ts'
import { checkLayerMembers } from './layer-members.ts'
import { type SettingsDocuments, settingsDocuments } from './settings-documents.ts'
import { type NamedStatusBody, namedStatusSchema } from './status-routes.ts'
import { type UserQuotaDocuments, userQuotaDocuments } from './user-quota-documents.ts'

/** What administrators send and get, all of it made from the policy. */
export interface QuotaDocuments {
  readonly settings: SettingsDocuments
  readonly userQuota: UserQuotaDocuments
  readonly status: z.ZodType<NamedStatusBody>
}

/** @throws {Error} for a policy whose layers cannot have their members */
export function quotaDocuments(policy: Policy): QuotaDocuments {
  checkLayerMembers(policy)
  return {
    settings: settingsDocuments(policy),
    userQuota: userQuotaDocuments(policy),
    status: namedStatusSchema(policy),
  }
}

/** An open hold, as the engine lists it. */
export type Hold = Awaited<ReturnType<Quota['holds']['list']>>[number]

/** An open hold, as administrators see it. */
export const holdDocument = z
  .object({
    ref: z.string().describe('Names the hold in a request that releases it.'),
    operation: z.string(),
    category: z.string(),
    tokens: z.int().describe('Tokens that it has, in every window.'),
    slot: z.boolean().describe('`true`: it has a slot of the work that may be under way at once.'),
    takenAt: isoInstant.describe('ISO 8601 UTC.'),
    endsAt: isoInstant.describe('When what it has goes back by itself, unless it is extended.'),
  })
  .meta({ id: 'Hold' })

export function holdBody(hold: Hold): z.output<typeof holdDocument> {
  const { ref, operation, category, tokens, slot, takenAt, endsAt } = hold
  return { ref, operation, category, tokens, slot, takenAt: instantText(takenAt), endsAt: instantText(endsAt) }
}
