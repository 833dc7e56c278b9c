import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import {
  aFunction,
  type Check,
  group,
  listOf,
  oneOf,
  optional,
  tableBy,
  textLike,
  where,
  wholeNumber,
} from '../options/checks.ts'
import { faultsOf, pathOf } from '../options/faults.ts'
import { noSuchName } from '../options/names.ts'
import { isObject } from '../options/objects.ts'
import { once } from '../options/once.ts'
import { MAX_WINDOW_MS, MIN_WINDOW_MS, type RollingWindow, type WindowDefinition } from '../windows/window.ts'
import { calendarWindowCheck } from './calendar-rules.ts'
import { hasLimit } from './cells.ts'
import { A_PRICE, eachKey, limitCheck, nameCheck, wrongOperation } from './names.ts'
import type { ConcurrencyDefinition, OperationDefinition, OverrunPolicy, Policy, PolicyAnswers } from './policy.ts'
import { plansCheck } from './table-rules.ts'
import { isPrice, MAX_LIMIT } from './values.ts'

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

/** A policy whose shape is right and whose names may not fit together. */
type Shape = Omit<Policy, 'base' | 'plans'> & { readonly base: unknown; readonly plans?: unknown }

/** A policy's own shape; what depends on its names is checked by {@link policyFaults}. */
const policyShape = /* @__PURE__ */ once(() =>
  group<Shape>({
    windows: listOf(windowCheck(), 1, 8),
    categories: listOf(nameCheck(), 1, 16),
    layers: listOf(
      group({ name: nameCheck(), scope: textLike(/^.{1,64}$/su, '1 to 64 characters'), shared: oneOf(true, false) }),
      1,
      8,
    ),
    operations: tableBy(wrongOperation, operationCheck(), 'an object'),
    concurrency: optional(concurrencyCheck()),
    base: where<unknown>((value) => value !== undefined, 'the base limits, by layer, category and window'),
    plans: v.optional(v.unknown()),
    answers: optional(aFunction<PolicyAnswers>('a function, as neutralAnswers() makes it')),
  }),
)

function windowCheck(): Check<WindowDefinition> {
  const rolling = group<Omit<RollingWindow, 'every'>>({
    label: nameCheck(),
    lengthMs: wholeNumber(MIN_WINDOW_MS, MAX_WINDOW_MS, 'milliseconds'),
  })
  const calendar = calendarWindowCheck()
  return v.lazy<Check<WindowDefinition>>((value) => (isOfCalendar(value) ? calendar : rolling))
}

function isOfCalendar(value: unknown): boolean {
  return isObject(value) && (Object.hasOwn(value, 'every') || Object.hasOwn(value, 'timeZone'))
}

function operationCheck(): Check<OperationDefinition> {
  return group<OperationDefinition>({
    category: where<string>((value) => typeof value === 'string', 'the name of a category'),
    cost: where<number>(isPrice, A_PRICE),
    overrun: optional(oneOf<OverrunPolicy>('refuse', 'charge', 'fit')),
    maxOverrun: optional(wholeNumber(1, MAX_LIMIT, 'tokens')),
  })
}

function concurrencyCheck(): Check<ConcurrencyDefinition> {
  const names = (what: string): Check<string[]> =>
    listOf(
      where<string>((value) => typeof value === 'string', what),
      1,
      1_000,
    )
  return group<ConcurrencyDefinition>({
    label: nameCheck(),
    operations: optional(names('the name of an operation')),
    categories: optional(names('the name of a category')),
  })
}

/** Every fault of a policy; empty when it can be used. */
export function policyFaults(policy: unknown): Fault[] {
  const faults = faultsOf(policyShape(), policy, WORDS)
  if (faults.length > 0) return faults
  const shape = policy as Shape
  const { windows, categories, layers } = shape
  const ofBase = within('base', faultsOf(baseCheck(shape), shape.base))
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
    ...(layers.some(({ shared }) => !shared) ? [] : [{ path: 'layers', message: 'at least one layer must not be shared' }]),
    ...operationFaults(shape),
    ...concurrencyFaults(shape),
    ...ofBase,
    // What the base has says what else there can be.
    ...(ofBase.length === 0 ? faultsByBase(policy as Policy) : []),
  ]
}

function duplicates(path: string, names: readonly string[]): Fault[] {
  const twice = names.filter((each, index) => names.indexOf(each) !== index)
  return twice.map((each) => ({ path, message: `"${each}" is there twice` }))
}

function within(path: string, faults: readonly Fault[]): Fault[] {
  return faults.map((fault) => ({ ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` }))
}

function operationFaults({ operations, categories }: Shape): Fault[] {
  return Object.entries(operations).flatMap(([operation, { category, overrun = 'refuse', maxOverrun }]) => {
    const path = (member: string): string => pathOf(['operations', operation, member])
    const faults: Fault[] = []
    if (!categories.includes(category)) {
      const message = `not a category: ${noSuchName(category, categories, 'the policy has')}`
      faults.push({ path: path('category'), message })
    }
    if (overrun !== 'refuse' && maxOverrun === undefined) {
      const message = `missing: the most tokens that one commit charges beyond its hold, as overrun is "${overrun}"`
      faults.push({ path: path('maxOverrun'), message })
    }
    if (overrun === 'refuse' && maxOverrun !== undefined) {
      const message = 'has no effect while an overrun is refused; say overrun: "charge" or "fit"'
      faults.push({ path: path('maxOverrun'), message })
    }
    return faults
  })
}

function concurrencyFaults({ concurrency, windows, operations, categories }: Shape): Fault[] {
  if (concurrency === undefined) return []
  const { label, operations: named, categories: namedCategories } = concurrency
  const known = Object.keys(operations)
  const strangers = (member: string, names: readonly string[], there: readonly string[], what: string): Fault[] =>
    names.flatMap((name, index) =>
      there.includes(name)
        ? []
        : [
            {
              path: `concurrency.${member}.${index}`,
              message: `not ${what}: ${noSuchName(name, there, 'the policy has')}`,
            },
          ],
    )
  return [
    ...(windows.some((window) => window.label === label)
      ? [{ path: 'concurrency.label', message: `"${label}" is the label of a window: give it another` }]
      : []),
    ...(named === undefined && namedCategories === undefined
      ? [{ path: 'concurrency', message: 'names nothing: say which `operations`, or `categories`, need a slot' }]
      : []),
    ...strangers('operations', named ?? [], known, 'an operation'),
    ...strangers('categories', namedCategories ?? [], categories, 'a category'),
  ]
}

/** The whole table: a limit for each window, and for concurrency as one likes. */
function baseCheck({ windows, concurrency, categories, layers }: Shape): Check<unknown> {
  const limit = limitCheck()
  const labels = windows.map(({ label }) => [label, limit] as const)
  const slots = concurrency === undefined ? [] : [[concurrency.label, optional(limit)] as const]
  const ofCategory = group(Object.fromEntries([...slots, ...labels]))
  const ofLayer = eachKey(categories, () => ofCategory)
  return eachKey(
    layers.map(({ name }) => name),
    () => ofLayer,
  )
}

function faultsByBase(policy: Policy): Fault[] {
  const ofPlans = policy.plans === undefined ? [] : within('plans', faultsOf(plansCheck(policy), policy.plans))
  return [...limitsNothing(policy), ...ofPlans]
}

/** Concurrency that no layer limits, in no category of an operation that needs a slot. */
function limitsNothing(policy: Policy): Fault[] {
  const { concurrency, layers, operations } = policy
  if (concurrency === undefined) return []
  const { label } = concurrency
  const named = (concurrency.operations ?? []).flatMap((name) => operations[name]?.category ?? [])
  const categories = policy.categories.filter((each) => named.includes(each) || concurrency.categories?.includes(each))
  const isLimited = categories.some((category) => layers.some(({ name }) => hasLimit(policy, name, category, label)))
  if (isLimited || categories.length === 0) return []
  const where = pathOf(['base', layers[0]!.name, categories[0]!, label])
  return [{ path: 'concurrency', message: `limits nothing: say in \`base\` how many slots there are, as ${where}` }]
}
