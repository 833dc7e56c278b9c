import type { Settings, VersionedSettings } from '@scoregw/quota'
import { MODES } from '@scoregw/quota/internal'
import * as z from 'zod'
import { strictObject } from '../http/http-error.ts'
import { isoInstant } from '../http/schemas.ts'
import { namedOf, tableOf } from './names.ts'
import { OPERATION_NAMES, policy, type Tokens } from './policy.ts'

/** Not `z.int()`, whose faults would skip the checks between members. */
function whole(most: number, error: string): z.ZodType<number> {
  return z
    .number(error)
    .refine((value) => Number.isSafeInteger(value) && value >= 0 && value <= most, error)
    .meta({ type: 'integer', minimum: 0, maximum: most })
}

/** The largest limit of the specification's documents. */
const MAX_TOKENS = 10 ** 11
const tokens = whole(MAX_TOKENS, `expected a whole number of tokens from 0 to ${MAX_TOKENS}`)
const price = whole(Number.MAX_SAFE_INTEGER, 'expected a whole number of tokens, 0 or more')
const windows = strictObject({ '1h': tokens, '5h': tokens, '1d': tokens }).meta({ id: 'WindowTokens' })
const categories = strictObject({ read: windows, write: windows }).meta({ id: 'CategoryTokens' })
const table = strictObject({ personal: categories, site: categories }).meta({ id: 'QuotaTable' })

const MULTIPLIER_ERROR = 'expected a number from 0.25 to 4 with at most two decimals'
const multiplier = z
  .number(MULTIPLIER_ERROR)
  .refine((value) => value >= 0.25 && value <= 4 && Math.round(value * 100) / 100 === value, MULTIPLIER_ERROR)
  .meta({ minimum: 0.25, maximum: 4, description: "Factor on the site's limits in every mode; at most two decimals." })

const remarks = z.array(z.object({ path: z.string(), msg: z.string() }))
const warnings = remarks.describe('Reasons why an operation is impossible, such as a limit below its price.')

const settings = strictObject({
  mode: z
    .enum(MODES, { error: `expected one of ${MODES.join(', ')}` })
    .describe('What scales the base values: 0.75, 1, 1.5, between 0.75 and 1.5; or the table `custom` instead.'),
  base: table,
  custom: table.nullable().describe('Not scaled. Required in mode `custom`.'),
  site: strictObject({
    enabled: z.boolean().describe("`false`: the site's windows are neither checked, charged nor shown."),
    multiplier,
  }),
  prices: strictObject(Object.fromEntries(OPERATION_NAMES.map((name) => [name, price.optional()]))).describe(
    'Prices in tokens that differ from the default.',
  ),
})

/** The body of a change of the settings. */
export const settingsBody = settings.refine(({ mode, custom }) => mode !== 'custom' || custom !== null, {
  path: ['custom'],
  error: 'mode "custom" needs this table',
  // Checked with other faults too, so that one response names all of them.
  when: ({ value }) => typeof value === 'object' && value !== null,
})
type SettingsBody = z.output<typeof settingsBody>

export const settingsDocument = settings.extend({ version: z.int().describe('Counts changes.') })
export const settingsAnswer = settingsDocument.extend({ warnings })
type SettingsDocument = z.output<typeof settingsDocument>

/** The document of stored settings. Custom values that are missing follow the base values. */
export function settingsDocumentOf(stored: VersionedSettings<Tokens>): SettingsDocument {
  const { version, mode, limits, shared, prices } = stored
  const base = tableOf(limits, 0)
  const custom = stored.custom && tableOf({ ...limits, ...stored.custom }, 0)
  return settingsDocument.parse({ version, mode, base, custom, site: shared.site, prices })
}

/** The library's settings. A price that equals the default isn't stored, so that it follows later defaults. */
export function settingsOf({ mode, base, custom, site, prices }: SettingsBody): Settings<Tokens, number> {
  const differing = OPERATION_NAMES.flatMap((name) => {
    const cost = prices[name]
    return cost === undefined || cost === policy.operations[name].cost ? [] : [[name, cost] as const]
  })
  return {
    mode,
    limits: namedOf(base),
    custom: custom && namedOf(custom),
    shared: { site },
    prices: Object.fromEntries(differing),
    ...{ shadow: {}, plans: {}, thresholds: null },
  }
}

const override = tokens.nullable().describe("Tokens, which modes don't scale; `null`: the default, 0 blocks.")
const limits = strictObject({ '1h': override, '5h': override, '1d': override })

export const userQuotaDocument = strictObject({
  overrides: strictObject({ read: limits, write: limits }),
  bypassSite: z.boolean().describe('`true`: the windows of `Site` do not apply to this user; those of `Personal` do.'),
}).meta({ id: 'UserQuota' })
export const userQuotaAnswer = userQuotaDocument.extend({ warnings })

/** Absent members get their default. */
export const userQuotaBody = strictObject({
  overrides: strictObject({ read: limits.partial(), write: limits.partial() }).partial().default({}),
  bypassSite: z.boolean().default(false),
})

const windowStatus = z
  .object({
    scope: z.string().describe('`Personal` or `Site`.'),
    window: z.string().describe('`1h`, `5h` or `1d`.'),
    limit: z.int().describe('Tokens.'),
    used: z.int().describe('Tokens.'),
    held: z.int().optional().describe('The part of `used` that open holds may still refund. Absent: none.'),
    remaining: z.int().describe('Tokens, never below 0.'),
    startedAt: isoInstant.nullable().describe("ISO 8601 UTC; `null`: the window isn't open."),
    resetAt: isoInstant.nullable().describe("When the window ends, ISO 8601 UTC; `null`: it isn't open."),
  })
  .meta({ id: 'WindowStatus' })

export const statusDocument = z
  .object({
    windows: z
      .object({ read: z.array(windowStatus).readonly(), write: z.array(windowStatus).readonly() })
      .describe('By category: the windows of each layer that applies, in order.'),
    timeZone: z.string().describe('Time zone of local times in texts.'),
  })
  .meta({ id: 'QuotaStatus' })
export type StatusDocument = z.output<typeof statusDocument>

/** The body of a 429. */
export const quotaExceeded = z
  .object({
    error: z.literal('quota_exceeded'),
    msg: z.string(),
    retryAfterSeconds: z.int(),
    retryable: z
      .boolean()
      .optional()
      .describe('`false`: the price is above the limit itself, so waiting will not help.'),
    quota: z.object({
      scope: z.string(),
      category: z.string(),
      window: z.string(),
      limit: z.int(),
      used: z.int(),
      requested: z.int(),
      resetAt: isoInstant,
      retryAtBeijing: z.string().describe('`yyyy-MM-dd HH:mm:ss` in `timeZone`.'),
      timeZone: z.string(),
      retryAt: isoInstant.describe('The same as `resetAt`.'),
      windowLabel: z.string().describe('The window in the language of `msg`: `1-Hour`, `1 小时`.'),
    }),
  })
  .meta({ id: 'QuotaExceeded', description: 'A window has too few tokens left. Nothing was charged.' })
