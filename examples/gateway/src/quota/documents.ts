import type { Policy } from '@scoregw/quota'
import type * as z from 'zod'
import { checkLayerMembers } from './layer-members.ts'
import { type SettingsDocuments, settingsDocuments } from './settings-documents.ts'
import { type NamedStatusBody, namedStatusSchema } from './status-routes.ts'
import { type UserQuotaDocuments, userQuotaDocuments } from './user-quota-documents.ts'

/** The schemas of documents for administrators, all derived from the policy. */
export interface QuotaDocuments {
  readonly settings: SettingsDocuments
  readonly userQuota: UserQuotaDocuments
  readonly status: z.ZodType<NamedStatusBody>
}

/** @throws {Error} if a layer's name isn't usable as a member of the documents */
export function quotaDocuments(policy: Policy): QuotaDocuments {
  checkLayerMembers(policy)
  return {
    settings: settingsDocuments(policy),
    userQuota: userQuotaDocuments(policy),
    status: namedStatusSchema(policy),
  }
}
