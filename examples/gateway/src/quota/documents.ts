import {
  type DeepPartial,
  type LimitTable,
  MAX_LIMIT,
  MODES,
  type Settings,
  type SubjectSettings,
  type VersionedSettings,
  type VersionedSubjectSettings,
} from '@scoregw/quota'
import * as z from 'zod'
import { gatewayPolicy, OPERATION_NAMES } from './policy.ts'

const WINDOWS = ['1h', '5h', '1d'] as const

const TOKENS_ERROR = `expected a whole number of tokens from 0 to ${MAX_LIMIT}`
// Refined and not `z.int()`, which would keep the checks across members from being asked.
const tokens = z
  .number(TOKENS_ERROR)
  .refine((value) => Number.isInteger(value) && value >= 0 && value <= MAX_LIMIT, TOKENS_ERROR)
  .meta({ type: 'integer', minimum: 0, maximum: MAX_LIMIT, description: 'Tokens. 0 blocks.' })

const PRICE_ERROR = 'expected a whole number of tokens, 0 or more'
const price = z
  .number(PRICE_ERROR)
  .refine((value) => Number.isSafeInteger(value) && value >= 0, PRICE_ERROR)
  .meta({ type: 'integer', minimum: 0 })

const MULTIPLIER_ERROR = 'expected a number from 0.25 to 4 with at most two decimals'
const multiplier = z
  .number(MULTIPLIER_ERROR)
  .refine((value) => value >= 0.25 && value <= 4 && Math.round(value * 100) / 100 === value, MULTIPLIER_ERROR)
  .meta({
    minimum: 0.25,
    maximum: 4,
    description: 'Factor on the site-wide limits in every mode; at most two decimals.',
  })

function windows<T extends z.ZodType>(value: T): z.ZodObject<Record<(typeof WINDOWS)[number], T>, z.core.$strict> {
  return z.strictObject({ '1h': value, '5h': value, '1d': value })
}

const windowTokens = windows(tokens).meta({ id: 'WindowTokens', description: 'Tokens by window.' })
const byCategory = z
  .strictObject({ read: windowTokens, write: windowTokens })
  .meta({ id: 'CategoryTokens', description: 'Tokens by category and window.' })
const table = z
  .strictObject({ personal: byCategory, site: byCategory })
  .meta({ id: 'QuotaTable', description: 'Tokens by layer, category and window.' })

const prices = z
  .strictObject(Object.fromEntries(OPERATION_NAMES.map((name) => [name, price.optional()])))
  .describe('Tokens that operations cost, where that differs from the default.')

const settingsShape = {
  mode: z
    .enum(MODES, { error: `expected one of ${MODES.join(', ')}` })
    .describe('What the base values are scaled by: 0.75, 1, 1.5, between 0.75 and 1.5, or the table `custom` instead.'),
  base: table,
  custom: table.nullable().describe('Taken as it is; needed in mode `custom`.'),
  site: z
    .strictObject({
      enabled: z.boolean().describe('`false`: the site-wide windows are neither checked, charged nor shown.'),
      multiplier,
    })
    .describe('The site-wide layer.'),
  prices,
}

/** The settings of everybody, as an administrator sends them. */
export const settingsBody = z.strictObject(settingsShape).refine(hasItsTable, {
  path: ['custom'],
  error: 'mode "custom" needs this table',
  // Asked whatever else is wrong, so that one answer names every fault.
  when: () => true,
})
export type SettingsBody = z.output<typeof settingsBody>

/** The settings of everybody, as they are shown. */
export const settingsDocument = z.strictObject({
  version: z.int().describe('Counts the changes; the `ETag` is the same.'),
  ...settingsShape,
})
export type SettingsDocument = z.output<typeof settingsDocument>

const warnings = z
  .array(z.object({ path: z.string(), msg: z.string() }))
  .describe('What makes an operation impossible, such as a limit below a price.')
export const storedSettingsDocument = settingsDocument.extend({ warnings })

function hasItsTable(body: { readonly mode?: unknown; readonly custom?: unknown } | undefined): boolean {
  return body?.mode !== 'custom' || (body.custom !== null && body.custom !== undefined)
}

const override = tokens.nullable().describe('Tokens that no mode scales; `null` follows the default, 0 blocks.')

const BYPASS = '`true`: the site-wide windows do not apply to this user; the personal ones always do.'

/** What one user's quota differs in; what is not named follows the default. */
export const userQuotaBody = z.strictObject({
  overrides: z
    .strictObject({
      read: windows(override).partial().optional(),
      write: windows(override).partial().optional(),
    })
    .optional(),
  bypassSite: z.boolean().default(false).describe(BYPASS),
})
export type UserQuotaBody = z.output<typeof userQuotaBody>

const overrides = windows(override)
export const userQuotaDocument = z.strictObject({
  overrides: z.strictObject({ read: overrides, write: overrides }),
  bypassSite: z.boolean().describe(BYPASS),
})
export type UserQuotaDocument = z.output<typeof userQuotaDocument>
export const storedUserQuotaDocument = userQuotaDocument.extend({ warnings })

/** The library's form of the settings. Prices that are the defaults are left out, so that they follow later ones. */
export function toSettings({ site, prices: given, ...rest }: SettingsBody): Settings {
  const differing = OPERATION_NAMES.flatMap((name) => {
    const tokensOf = given[name]
    return tokensOf === undefined || tokensOf === gatewayPolicy.operations[name].cost ? [] : [[name, tokensOf] as const]
  })
  return { ...rest, layers: { site }, prices: Object.fromEntries(differing) }
}

export function fromSettings({
  layers,
  base,
  custom,
  prices: set,
  version,
  mode,
}: VersionedSettings): SettingsDocument {
  const { enabled, multiplier: factor } = layers.site ?? { enabled: true, multiplier: 1 }
  return {
    version,
    mode,
    base: toTable(base),
    custom: custom === null ? null : toTable(custom),
    site: { enabled, multiplier: factor },
    prices: { ...set },
  }
}

/** Only tables that this gateway checked are stored: they have these members, and never `unlimited`. */
function toTable(limits: LimitTable): SettingsBody['base'] {
  return limits as SettingsBody['base']
}

export function toSubjectSettings({ overrides: set = {}, bypassSite }: UserQuotaBody): DeepPartial<SubjectSettings> {
  return { overrides: set as DeepPartial<SubjectSettings['overrides']>, bypass: bypassSite ? ['site'] : [] }
}

export function fromSubjectSettings({ overrides: set, bypass }: VersionedSubjectSettings): UserQuotaDocument {
  // As with tables: only what this gateway checked is stored.
  return { overrides: set as UserQuotaDocument['overrides'], bypassSite: bypass.includes('site') }
}

/** Where a fault of the library's form is in ours. */
export function outerPath(path: string): string {
  return path.replace(/^layers\.site(?=\.|$)/, 'site').replace(/^bypass(?=\.|$).*/, 'bypassSite')
}
