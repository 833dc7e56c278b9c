import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { type Check, group, listOf, oneOf, tableBy, textLike, where, wholeNumber } from '../options/checks.ts'
import { expectedKind, expectedText } from '../options/expected.ts'
import { faultsOf, pathOf } from '../options/faults.ts'
import { listed, noSuchName } from '../options/names.ts'
import { isPlain } from '../options/objects.ts'
import { once } from '../options/once.ts'
import { MAX_WINDOW_MS, MIN_WINDOW_MS } from '../windows/window.ts'
import { MAX_LIMIT } from './limits.ts'
import type { Limit, Policy } from './policy.ts'
import { MODES } from './settings.ts'
import { isLimit, isMultiplier, isPrice, MAX_MULTIPLIER, MIN_MULTIPLIER } from './values.ts'

export { faultsOf } from '../options/faults.ts'

const A_LIMIT = `a whole number of tokens from 0 to ${MAX_LIMIT}`
const A_PRICE = 'a whole number of tokens, 0 or more'
const A_MULTIPLIER = `a number from ${MIN_MULTIPLIER} to ${MAX_MULTIPLIER} with at most two decimals`

/** What members of other libraries' definitions are called in a policy. */
const WORDS: Readonly<Record<string, string>> = {
  windowMs: 'the length of a window is `lengthMs`',
  length: 'the length of a window is `lengthMs`',
  duration: 'the length of a window is `lengthMs`',
  limit: 'limits are in `base`, by layer, category and window',
  max: 'limits are in `base`, by layer, category and window',
  points: 'a price is `cost`, and limits are in `base`',
  price: 'a price is `cost`',
  tokens: 'a price is `cost`',
  weight: 'a price is `cost`',
  limits: 'limits are in `base`, by layer, category and window',
}

const NAME = /^[A-Za-z0-9_-]{1,32}$/
const OPERATION_NAME = /^[A-Za-z0-9_.:-]{1,64}$/
const name = (): Check<string> => textLike(NAME, '1 to 32 of A-Z a-z 0-9 _ -')

function wrongOperation(operation: string): string | undefined {
  const isName = OPERATION_NAME.test(operation)
  return isName ? undefined : expectedText('a name of 1 to 64 of A-Z a-z 0-9 _ . : -', operation)
}

function eachKey<T>(keys: readonly string[], check: Check<T>): Check<Record<string, T>> {
  return group(Object.fromEntries(keys.map((key) => [key, check])))
}

type Names = Pick<Policy, 'windows' | 'categories' | 'layers' | 'operations'>

function tableSchema({ layers, categories, windows }: Names): Check<Policy['base']> {
  const limit = where<Limit>(isLimit, `${A_LIMIT}, or "unlimited"`)
  const labels = windows.map(({ label }) => label)
  return eachKey(
    layers.map((layer) => layer.name),
    eachKey(categories, eachKey(labels, limit)),
  )
}

/** A policy's own shape; what depends on its names is checked by {@link policyFaults}. */
function policyShape(): Check<Names & { readonly base: unknown }> {
  return group({
    windows: listOf(
      group({ label: name(), lengthMs: wholeNumber(MIN_WINDOW_MS, MAX_WINDOW_MS, 'milliseconds') }),
      1,
      8,
    ),
    categories: listOf(name(), 1, 16),
    layers: listOf(
      group({ name: name(), scope: textLike(/^.{1,64}$/su, '1 to 64 characters'), shared: oneOf(true, false) }),
      1,
      8,
    ),
    operations: tableBy(
      wrongOperation,
      group({
        category: where<string>((value) => typeof value === 'string', 'the name of a category'),
        cost: where<number>(isPrice, A_PRICE),
      }),
      'an object',
    ),
    base: where<unknown>((value) => value !== undefined, 'the base limits, by layer, category and window'),
  })
}

function duplicates(path: string, names: readonly string[]): Fault[] {
  const twice = names.filter((each, index) => names.indexOf(each) !== index)
  return twice.map((each) => ({ path, message: `"${each}" is there twice` }))
}

/** Every fault of a policy; empty when it can be used. */
export function policyFaults(policy: unknown): Fault[] {
  const faults = faultsOf(policyShape(), policy, WORDS)
  if (faults.length > 0) return faults
  const { windows, categories, layers, operations, base } = policy as Policy
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
      path: pathOf(['operations', operation, 'category']),
      message: `not a category: ${noSuchName(category, categories, 'the policy has')}`,
    })),
    ...faultsOf(tableSchema({ windows, categories, layers, operations }), base).map((fault) => ({
      ...fault,
      path: fault.path === '' ? 'base' : `base.${fault.path}`,
    })),
  ]
}

/**
 * Names every fault of a settings document of a policy; none when it can be stored.
 *
 * @param hasFactor whether there is a factor for mode `adaptive`
 */
export function settingsCheck(policy: Policy, hasFactor: boolean): (document: unknown) => Fault[] {
  const schema = once(() => settingsSchema(policy, hasFactor))
  return (document) => [...faultsOf(schema(), document), ...customFaults(document)]
}

function settingsSchema(policy: Policy, hasFactor: boolean): Check<unknown> {
  const table = tableSchema(policy)
  return group({
    mode: modeSchema(hasFactor),
    base: table,
    custom: v.nullable(table),
    layers: eachKey(
      sharedNames(policy),
      group({ enabled: oneOf(true, false), multiplier: where<number>(isMultiplier, A_MULTIPLIER) }),
    ),
    prices: pricesSchema(Object.keys(policy.operations)),
  })
}

function modeSchema(hasFactor: boolean): Check<string> {
  const available = (mode: unknown): boolean => hasFactor || mode !== 'adaptive'
  return v.custom<string>(
    (mode) => (MODES as readonly unknown[]).includes(mode) && available(mode),
    ({ input }) =>
      available(input)
        ? expectedText(`one of ${MODES.join(', ')}`, input)
        : 'not available: this engine has no adaptive factor',
  )
}

/** Asked apart from the schema, as what depends on several members is told whatever else is at fault. */
function customFaults(document: unknown): Fault[] {
  const { mode, custom } = (document ?? {}) as { mode?: unknown; custom?: unknown }
  return mode === 'custom' && custom === null ? [{ path: 'custom', message: 'mode "custom" needs this table' }] : []
}

/** Prices by operation; a price that is no price and an operation that is none are both faults. */
function pricesSchema(operations: readonly string[]): Check<Readonly<Record<string, unknown>>> {
  const known = new Set(operations)
  const table = v.custom<Readonly<Record<string, unknown>>>(isPlain, expectedKind('an object of prices by operation'))
  const prices = v.rawCheck<Readonly<Record<string, unknown>>>(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    for (const [operation, cost] of Object.entries(dataset.value)) {
      const faults = [
        ...(known.has(operation) ? [] : [`not an operation: ${noSuchName(operation, operations, 'the policy has')}`]),
        ...(isPrice(cost) ? [] : [expectedText(A_PRICE, cost)]),
      ]
      const path = { type: 'object', origin: 'value', input: dataset.value, key: operation, value: cost } as const
      for (const message of faults) addIssue({ message, path: [path] })
    }
  })
  return v.pipe(table, prices)
}

/** Schema of one subject's settings. */
export function subjectSettingsSchema(policy: Policy): Check<unknown> {
  // Made when the first settings of a subject are written: most processes only read them.
  const schema = once(() => {
    const shared = sharedNames(policy)
    const override = where<Limit | null>(
      (value) => value === null || isLimit(value),
      `${A_LIMIT}, "unlimited", or null to follow the default`,
    )
    const labels = policy.windows.map(({ label }) => label)
    const layer = where<string>(
      (value) => shared.includes(value as string),
      `the name of a shared layer: ${listed(shared)}`,
    )
    return group({
      overrides: eachKey(policy.categories, eachKey(labels, override)),
      bypass: listOf(layer, 0, policy.layers.length),
    })
  })
  return v.lazy(schema)
}

function sharedNames(policy: Policy): readonly string[] {
  return policy.layers.filter((layer) => layer.shared).map((layer) => layer.name)
}
