import * as z from 'zod'
import type { Fault } from '../errors/quota-error.ts'
import { MAX_WINDOW_MS, MIN_WINDOW_MS } from '../windows/window.ts'
import { hundredths, MAX_LIMIT } from './limits.ts'
import type { Limit, Policy } from './policy.ts'
import { MODES } from './settings.ts'

/** Limits of a shared layer's multiplier. */
const MIN_MULTIPLIER = 0.25
const MAX_MULTIPLIER = 4

const wholeTokens = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isLimit = (value: unknown): value is Limit => value === 'unlimited' || (wholeTokens(value) && value <= MAX_LIMIT)

const limit = z.custom<Limit>(isLimit, {
  error: `expected a whole number of tokens from 0 to ${MAX_LIMIT}, or "unlimited"`,
})
const override = z.custom<Limit | null>((value) => value === null || isLimit(value), {
  error: `expected a whole number of tokens from 0 to ${MAX_LIMIT}, "unlimited", or null to follow the default`,
})
const PRICE_EXPECTED = 'expected a whole number of tokens, 0 or more'
const price = z.custom<number>(wholeTokens, { error: PRICE_EXPECTED })
const name = z.string().regex(/^[A-Za-z0-9_-]{1,32}$/, 'expected 1 to 32 of A-Z a-z 0-9 _ -')
const operationName = z.string().regex(/^[A-Za-z0-9_.:-]{1,64}$/, 'expected a name of 1 to 64 of A-Z a-z 0-9 _ . : -')
const multiplier = z.custom<number>(
  (value) =>
    typeof value === 'number' && value >= MIN_MULTIPLIER && value <= MAX_MULTIPLIER && hundredths(value) !== undefined,
  { error: `expected a number from ${MIN_MULTIPLIER} to ${MAX_MULTIPLIER} with at most two decimals` },
)

function eachKey<T extends z.ZodType>(keys: readonly string[], schema: T): z.ZodObject<Record<string, T>> {
  return z.strictObject(Object.fromEntries(keys.map((key) => [key, schema])))
}

type Names = Pick<Policy, 'windows' | 'categories' | 'layers' | 'operations'>

function tableSchema({ layers, categories, windows }: Names): z.ZodType {
  const labels = windows.map(({ label }) => label)
  return eachKey(
    layers.map((layer) => layer.name),
    eachKey(categories, eachKey(labels, limit)),
  )
}

/** Schema of a policy's own shape; what depends on its names is checked by {@link policyFaults}. */
const policyShape = z.strictObject({
  windows: z
    .array(
      z.strictObject({
        label: name,
        lengthMs: z
          .int()
          .min(MIN_WINDOW_MS, 'windows last 1 second at least')
          .max(MAX_WINDOW_MS, 'windows last 366 days at most'),
      }),
    )
    .min(1)
    .max(8),
  categories: z.array(name).min(1).max(16),
  layers: z
    .array(z.strictObject({ name, scope: z.string().min(1).max(64), shared: z.boolean() }))
    .min(1)
    .max(8),
  operations: z.record(operationName, z.strictObject({ category: z.string(), cost: price })),
  base: z.unknown(),
})

function duplicates(path: string, names: readonly string[]): Fault[] {
  const twice = names.filter((each, index) => names.indexOf(each) !== index)
  return twice.map((each) => ({ path, message: `"${each}" is there twice` }))
}

/** Every fault of a policy; empty when it can be used. */
export function policyFaults(policy: unknown): Fault[] {
  const shape = policyShape.safeParse(policy)
  if (!shape.success) return toFaults(shape.error)
  const { windows, categories, layers, operations } = shape.data
  const strangers = Object.entries(operations).filter(([, { category }]) => !categories.includes(category))
  return [
    ...duplicates(
      'windows',
      windows.map(({ label }) => label),
    ),
    ...duplicates('categories', categories),
    ...duplicates(
      'layers',
      layers.map((layer) => layer.name),
    ),
    ...(layers.some(({ shared }) => !shared) ? [] : [{ path: 'layers', message: 'one layer at least is not shared' }]),
    ...strangers.map(([operation, { category }]) => ({
      path: `operations.${operation}.category`,
      message: `"${category}" is not a category; the policy has ${categories.join(', ')}`,
    })),
    ...faultsOf(tableSchema(shape.data), shape.data.base).map((fault) => ({
      ...fault,
      path: joined('base', fault.path),
    })),
  ]
}

/**
 * Names every fault of a settings document of a policy; none when it can be stored.
 *
 * @param hasFactor whether there is a factor for mode `adaptive`
 */
export function settingsCheck(policy: Policy, hasFactor: boolean): (document: unknown) => Fault[] {
  const table = tableSchema(policy)
  const shared = policy.layers.filter((layer) => layer.shared).map((layer) => layer.name)
  const schema = z.strictObject({
    mode: z
      .enum(MODES, { error: `expected one of ${MODES.join(', ')}` })
      .refine((mode) => hasFactor || mode !== 'adaptive', {
        error: 'not available: this engine has no adaptive factor',
      }),
    base: table,
    custom: table.nullable(),
    layers: eachKey(shared, z.strictObject({ enabled: z.boolean(), multiplier })),
    prices: pricesSchema(Object.keys(policy.operations)),
  })
  return (document) => [...faultsOf(schema, document), ...customFaults(document)]
}

/** Asked apart from the schema, which leaves out what depends on several members once one of them is at fault. */
function customFaults(document: unknown): Fault[] {
  const { mode, custom } = (document ?? {}) as { mode?: unknown; custom?: unknown }
  return mode === 'custom' && custom === null ? [{ path: 'custom', message: 'mode "custom" needs this table' }] : []
}

/** Prices by operation; a price that is no price and an operation that is none are both faults. */
function pricesSchema(operations: readonly string[]): z.ZodType {
  return z.record(z.string(), z.unknown()).superRefine((prices, context) => {
    for (const [operation, cost] of Object.entries(prices)) {
      const faults = [
        ...(operations.includes(operation) ? [] : [`not an operation; the policy has ${operations.join(', ')}`]),
        ...(wholeTokens(cost) ? [] : [PRICE_EXPECTED]),
      ]
      for (const message of faults) context.addIssue({ code: 'custom', path: [operation], message })
    }
  })
}

/** Schema of one subject's settings. */
export function subjectSettingsSchema(policy: Policy): z.ZodType {
  const labels = policy.windows.map(({ label }) => label)
  const shared = policy.layers.filter((layer) => layer.shared).map((layer) => layer.name)
  const isShared = (value: unknown): boolean => shared.includes(value as string)
  return z.strictObject({
    overrides: eachKey(policy.categories, eachKey(labels, override)),
    bypass: z
      .array(z.custom<string>(isShared, { error: `expected the name of a shared layer: ${shared.join(', ')}` }))
      .max(policy.layers.length),
  })
}

/** Every fault of a document under a schema; empty when it fits. */
export function faultsOf(schema: z.ZodType, document: unknown): Fault[] {
  const result = schema.safeParse(document)
  return result.success ? [] : toFaults(result.error)
}

function joined(...parts: readonly PropertyKey[]): string {
  return parts
    .map(String)
    .filter((part) => part !== '')
    .join('.')
}

/** The faults of a failed parse; unknown keys one by one. */
export function toFaults(error: z.ZodError): Fault[] {
  return error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [{ path: joined(...issue.path), message: issue.message }]
    return issue.keys.map((key) => ({ path: joined(...issue.path, key), message: 'unknown key' }))
  })
}
