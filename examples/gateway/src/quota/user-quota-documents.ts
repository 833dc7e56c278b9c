import type { Policy, SubjectSettings } from '@scoregw/quota'
import { type DeepPartial, MAX_LIMIT } from '@scoregw/quota/store'
import * as z from 'zod'
import { bypassMember, ownLayers, sharedLayers } from './layer-members.ts'
import { warningsSchema } from './settings-documents.ts'
import { eachOf, mapped, tokensSchema } from './table-schemas.ts'

/** What one user's quota differs in: overrides, and a member for each shared layer that may be bypassed. */
export interface UserQuotaDocument {
  readonly overrides: Readonly<Record<string, Readonly<Record<string, number | null>>>>
  readonly [bypass: string]: unknown
}

/** The forms of a user's document under a policy. */
export interface UserQuotaDocuments {
  /** What an administrator sends, what is not named following the default; it becomes the library's form. */
  readonly body: z.ZodType<DeepPartial<SubjectSettings>>
  readonly document: z.ZodType<UserQuotaDocument>
  /** What a change is answered with. */
  readonly stored: z.ZodType<UserQuotaDocument>
  readonly example: object
  /** How many limits a user may have of his own in a layer. */
  readonly limits: number
  of(settings: SubjectSettings): UserQuotaDocument
}

export function userQuotaDocuments(policy: Policy): UserQuotaDocuments {
  const { categories, windows } = policy
  const labels = windows.map(({ label }) => label)
  const shared = sharedLayers(policy)
  const override = tokensSchema.nullable().describe('Tokens that no mode scales; `null` follows the default, 0 blocks.')
  const byWindow = eachOf(labels, override)
  const bypasses = Object.fromEntries(shared.map((name) => [bypassMember(name), bypassSchema(policy, name)]))
  const document = z.strictObject({ overrides: eachOf(categories, byWindow), ...bypasses })
  const body = z
    .strictObject({
      overrides: eachOf(categories, byWindow.partial()).partial().optional(),
      ...mapped(bypasses, (bypass) => bypass.default(false)),
    })
    .transform(({ overrides = {}, ...given }: { overrides?: object | undefined; [bypass: string]: unknown }) => ({
      overrides,
      bypass: shared.filter((name) => given[bypassMember(name)] === true),
    }))
  return {
    body: body as unknown as z.ZodType<DeepPartial<SubjectSettings>>,
    document: document as unknown as z.ZodType<UserQuotaDocument>,
    stored: document.extend({ warnings: warningsSchema }) as unknown as z.ZodType<UserQuotaDocument>,
    example: {
      overrides: { [categories.at(-1) ?? '']: { [labels[0] ?? '']: 120 } },
      ...mapped(bypasses, () => false),
    },
    limits: categories.length * labels.length,
    of: ({ overrides, bypass }) => ({
      overrides: mapped(overrides, (limits) => mapped(limits, (limit) => (limit === 'unlimited' ? MAX_LIMIT : limit))),
      ...Object.fromEntries(shared.map((name) => [bypassMember(name), bypass.includes(name)])),
    }),
  }
}

function bypassSchema(policy: Policy, layer: string): z.ZodBoolean {
  const [scope, ...own] = [layer, ...ownLayers(policy)].map(
    (name) => policy.layers.find((each) => each.name === name)?.scope,
  )
  return z
    .boolean()
    .describe(
      `\`true\`: the windows of \`${scope}\` do not apply to this user; those of \`${own.join('`, `')}\` always do.`,
    )
}
