import type { Policy, Settings, VersionedSettings } from '@scoregw/quota'
import { type DeepPartial, MODES } from '@scoregw/quota/store'
import * as z from 'zod'
import { sharedLayers } from './layer-members.ts'
import { type PlanTables, plansSchema, planTables, shadowSchema, thresholdsSchema } from './limit-rules-schemas.ts'
import { isRecord, limitTable, type TokenTable, tableSchema, tokenTable } from './table-schemas.ts'

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
    description: "Factor on the layer's limits in every mode; at most two decimals.",
  })

/** Warnings or faults, with their paths. */
const remarks = z.array(z.object({ path: z.string(), msg: z.string() }))
const faultsSchema = remarks
  .optional()
  .describe(
    "Stored settings that have no effect, because the policy doesn't know them or they are invalid. Absent: none.",
  )
export const warningsSchema = remarks.describe(
  'Reasons why an operation is impossible, such as a limit below its price.',
)

interface SharedLayer {
  readonly enabled: boolean
  readonly multiplier: number
}

/** The settings of all subjects as shown to administrators. Each shared layer is another member. */
export interface SettingsDocument {
  readonly version: number
  readonly mode: Settings['mode']
  readonly base: TokenTable
  readonly custom: TokenTable | null
  readonly prices: Readonly<Record<string, number>>
  readonly shadow: Settings['shadow']
  readonly plans: PlanTables
  readonly thresholds: Settings['thresholds']
  readonly [layer: string]: unknown
}

/** The schemas of settings documents, for a policy. */
export interface SettingsDocuments {
  /** The body that an administrator sends. It is parsed to the library's form. */
  readonly body: z.ZodType<Settings>
  readonly document: z.ZodType<SettingsDocument>
  /** The response to a change. */
  readonly stored: z.ZodType<SettingsDocument>
  readonly example: object
  /** The values without stored settings. */
  readonly defaults: Readonly<Record<string, unknown>>
  of(settings: VersionedSettings): SettingsDocument
  /** Converts a merge patch of the document to one of the library's settings. The library validates the result. */
  patchOf(patch: object): DeepPartial<Settings>
}

export function settingsDocuments(policy: Policy): SettingsDocuments {
  const shared = sharedLayers(policy)
  const shape = shapeOf(policy)
  const defaults = {
    mode: 'normal',
    base: tokenTable(policy.base),
    custom: null,
    ...Object.fromEntries(shared.map((name) => [name, { enabled: true, multiplier: 1 }])),
    prices: {},
    shadow: {},
    plans: {},
    thresholds: null,
  }
  const document = z.strictObject({
    version: z.int().describe('Counts changes.'),
    ...shape,
    shadow: shadowSchema(policy),
    plans: plansSchema(policy),
    thresholds: thresholdsSchema,
    faults: faultsSchema,
  })
  const body = z
    .strictObject({
      ...shape,
      // Documents stored before these members existed are complete.
      shadow: shadowSchema(policy).default({}),
      plans: plansSchema(policy).default({}),
      thresholds: thresholdsSchema.default(null),
      faults: z.array(z.unknown()).describe('Ignored, so that you can send back a document with it.').optional(),
    })
    .refine(hasItsTable, {
      path: ['custom'],
      error: 'mode "custom" needs this table',
      // Always checked, so that one response names all faults.
      when: () => true,
    })
    .transform((given) => toSettings(policy, given as Omit<SettingsDocument, 'version'>))
  return {
    body: body as unknown as z.ZodType<Settings>,
    document: document as unknown as z.ZodType<SettingsDocument>,
    stored: document.extend({ warnings: warningsSchema }) as unknown as z.ZodType<SettingsDocument>,
    example: defaults,
    defaults,
    of: ({ version, mode, base, custom, layers, prices, shadow, plans, thresholds }) => ({
      version,
      mode,
      base: tokenTable(base),
      custom: custom === null ? null : tokenTable(custom),
      ...Object.fromEntries(shared.map((name) => [name, layers[name] ?? { enabled: true, multiplier: 1 }])),
      prices: { ...prices },
      shadow,
      plans: planTables(plans),
      thresholds,
    }),
    patchOf: (patch) => toPatch(policy, patch),
  }
}

function shapeOf(policy: Policy): z.ZodRawShape {
  const table = tableSchema(policy)
  const operations = Object.keys(policy.operations)
  const layerOf = (name: string): z.ZodType<SharedLayer> => {
    const scope = policy.layers.find((layer) => layer.name === name)?.scope
    return z
      .strictObject({
        enabled: z.boolean().describe('`false`: its windows are neither checked, charged nor shown.'),
        multiplier,
      })
      .describe(`The layer \`${scope}\`, which all users share.`)
  }
  return {
    mode: z
      .enum(MODES, { error: `expected one of ${MODES.join(', ')}` })
      .describe(
        'What the base values are scaled by: 0.75, 1, 1.5, between 0.75 and 1.5, or the table `custom` instead.',
      ),
    base: table,
    custom: table.nullable().describe('Not scaled. Required in mode `custom`.'),
    ...Object.fromEntries(sharedLayers(policy).map((name) => [name, layerOf(name)])),
    prices: z
      .strictObject(Object.fromEntries(operations.map((name) => [name, price.optional()])))
      .describe('Prices in tokens that differ from the default.'),
  }
}

function hasItsTable(body: unknown): boolean {
  const { mode, custom } = (body ?? {}) as { readonly mode?: unknown; readonly custom?: unknown }
  return mode !== 'custom' || (custom !== null && custom !== undefined)
}

/** Converts a document. Default prices are omitted, so that they follow later defaults. */
function toSettings(policy: Policy, given: Omit<SettingsDocument, 'version'>): Settings {
  const { mode, base, custom, prices, shadow, plans, thresholds } = given as SettingsDocument
  const differing = Object.entries(prices).filter(
    ([name, tokens]) => tokens !== undefined && tokens !== policy.operations[name]?.cost,
  )
  const layers = sharedLayers(policy).map((name) => [name, given[name] as SharedLayer] as const)
  return {
    mode,
    base: limitTable(policy, base),
    custom: custom === null ? null : limitTable(policy, custom),
    layers: Object.fromEntries(layers),
    prices: Object.fromEntries(differing),
    shadow,
    plans,
    thresholds,
  }
}

/** Converts a merge patch. Faults stay in, for the library to report. */
function toPatch(policy: Policy, patch: object): DeepPartial<Settings> {
  const shared = sharedLayers(policy)
  const members = Object.entries(patch).filter(([name]) => name !== 'faults')
  const layers = members.filter(([name]) => shared.includes(name))
  const others = members
    .filter(([name]) => !shared.includes(name))
    .map(([name, value]): [string, unknown] => {
      if (name === 'base' || name === 'custom') return [name, limitTable(policy, value)]
      return [name, name === 'prices' && isRecord(value) ? withoutDefaults(policy, value) : value]
    })
  return { ...Object.fromEntries(others), ...(layers.length === 0 ? {} : { layers: Object.fromEntries(layers) }) }
}

function withoutDefaults({ operations }: Policy, prices: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(
    Object.entries(prices).map(([name, tokens]) => [name, tokens === operations[name]?.cost ? null : tokens]),
  )
}
