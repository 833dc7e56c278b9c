import type { Policy } from '@scoregw/quota'
import type * as z from 'zod'
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
