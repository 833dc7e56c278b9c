import type { Policy, SubjectSettings } from '@scoregw/quota'
import type { DeepPartial } from '@scoregw/quota/store'
import * as z from 'zod'
import { instantOf, instantText, isoInstant } from '../http/instant.ts'
import { bypassMember, ownLayers, sharedLayers } from './layer-members.ts'
import { overrideLabels, planName } from './limit-rules-schemas.ts'
import { warningsSchema } from './settings-documents.ts'
import { eachOf, mapped, tokensOfLimit, tokensSchema } from './table-schemas.ts'

/** How one user's quota differs: limits, a plan, and exemptions from shared layers. */
export interface UserQuotaDocument {
  readonly overrides: Readonly<Record<string, Readonly<Record<string, number | null>>>>
  readonly plan: string | null
  /** ISO 8601 UTC. */
  readonly until: { readonly overrides: string | null; readonly plan: string | null }
  readonly anchor: { readonly month?: number; readonly day?: number; readonly time?: string } | null
  readonly [bypass: string]: unknown
}

/** The schemas of users' documents, for a policy. */
export interface UserQuotaDocuments {
  /** The body that an administrator sends. Absent members have defaults. It is parsed to the library's form. */
  readonly body: z.ZodType<DeepPartial<SubjectSettings>>
  readonly document: z.ZodType<UserQuotaDocument>
  /** The response to a change. */
  readonly stored: z.ZodType<UserQuotaDocument>
  readonly example: object
  /** How many limits of a layer a user can override. */
  readonly limits: number
  of(settings: SubjectSettings): UserQuotaDocument
}

const UNTIL_ERROR = 'expected an instant in ISO 8601 UTC from 1970 on'
const until = z.iso.datetime(UNTIL_ERROR).refine((text) => instantOf(text) >= 0, UNTIL_ERROR)
const untilTexts = 'Until when it is in force, ISO 8601 UTC; `null`: without an end.'

const ANCHOR_TEXT =
  "Where the user's own periods begin, for windows of the calendar that go by it; a change counts from the next period. `null`: at the calendar's beginning."
const anchor = z
  .strictObject({
    month: z.int().min(1).max(12).optional().describe('Of a year.'),
    day: z.int().min(1).max(31).optional().describe('Of a month. In a shorter month, its last day.'),
    time: z
      .string()
      .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'expected a time of day from 00:00 to 23:59')
      .optional(),
  })
  .nullable()
  .describe(ANCHOR_TEXT)

const plan = planName
  .nullable()
  .describe("The user's plan. Its limits apply unless there is an override. `null`: none, or that of the user's token.")

/** The default of `until`. */
const NO_END = { overrides: null, plan: null }

export function userQuotaDocuments(policy: Policy): UserQuotaDocuments {
  const { categories } = policy
  const shared = sharedLayers(policy)
  const override = tokensSchema.nullable().describe("Tokens, which modes don't scale; `null`: the default, 0 blocks.")
  const bypasses = Object.fromEntries(shared.map((name) => [bypassMember(name), bypassSchema(policy, name)]))
  const limitsOf = (category: string): z.ZodObject => {
    const { all, some } = overrideLabels(policy, category)
    return eachOf(all, override).extend(eachOf(some, override).partial().shape)
  }
  const byCategory = Object.fromEntries(categories.map((category) => [category, limitsOf(category)]))
  const document = z.strictObject({
    overrides: z.strictObject(byCategory),
    ...bypasses,
    plan,
    until: z
      .strictObject({ overrides: isoInstant.nullable(), plan: isoInstant.nullable() })
      .describe('When overrides and plan end, ISO 8601 UTC; `null`: never.'),
    anchor,
  })
  const end = until.nullable().default(null).describe(untilTexts)
  const body = z
    .strictObject({
      overrides: z
        .strictObject(mapped(byCategory, (limits) => limits.partial()))
        .partial()
        .optional(),
      ...mapped(bypasses, (bypass) => bypass.default(false)),
      plan: plan.default(null),
      until: z.strictObject({ overrides: end, plan: end }).default(NO_END),
      anchor: anchor.default(null),
    })
    .transform(({ overrides = {}, plan: named, until: ends, anchor: begins, ...given }) => ({
      overrides,
      bypass: shared.filter((name) => (given as Readonly<Record<string, unknown>>)[bypassMember(name)] === true),
      plan: named,
      until: mapped(ends, (text) => (text === null ? null : instantOf(text))),
      anchor: begins,
    }))
  return {
    body: body as unknown as z.ZodType<DeepPartial<SubjectSettings>>,
    document: document as unknown as z.ZodType<UserQuotaDocument>,
    stored: document.extend({ warnings: warningsSchema }) as unknown as z.ZodType<UserQuotaDocument>,
    example: {
      overrides: { [categories.at(-1) ?? '']: { [policy.windows[0]?.label ?? '']: 120 } },
      ...mapped(bypasses, () => false),
      until: { overrides: '2030-01-01T00:00:00.000Z', plan: null },
    },
    limits: Object.values(byCategory).reduce((count, { shape }) => count + Object.keys(shape).length, 0),
    of: ({ overrides, bypass, plan: named, until: ends, anchor: begins }) => ({
      overrides: mapped(overrides, (limits) =>
        mapped(limits, (limit) => (limit === null ? null : tokensOfLimit(limit))),
      ),
      ...Object.fromEntries(shared.map((name) => [bypassMember(name), bypass.includes(name)])),
      plan: named,
      until: { overrides: textOf(ends.overrides), plan: textOf(ends.plan) },
      anchor: begins === null ? null : plainAnchor(begins),
    }),
  }
}

function textOf(at: number | null): string | null {
  return at === null ? null : instantText(at)
}

/** Removes earlier anchors. An anchor without other members is the start of the calendar's periods. */
function plainAnchor({ month, day, time }: NonNullable<SubjectSettings['anchor']>): UserQuotaDocument['anchor'] {
  const plain = {
    ...(month === undefined ? {} : { month }),
    ...(day === undefined ? {} : { day }),
    ...(time === undefined ? {} : { time }),
  }
  return Object.keys(plain).length === 0 ? null : plain
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
