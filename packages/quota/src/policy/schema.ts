import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { aFunction, type Check, group, listOf, oneOf, optional, tableBy, textLike, where } from '../options/checks.ts'
import { faultsOf, noSuchName, pathOf, within } from '../options/faults.ts'
import { WINDOW_FORMS } from '../windows/kinds.ts'
import { hasLimit, unitOfLabel } from './cells.ts'
import type {
  ConcurrencyDefinition,
  Limit,
  OperationDefinition,
  OverrunPolicy,
  Policy,
  PolicyAnswers,
  PolicyWindow,
} from './policy.ts'
import { costCheck, plansCheck, unitFaults, unitsCheck, unitsIn, windowUnitCheck } from './rules.ts'
import type { UnitDefinition } from './units.ts'
import { eachKey, limitCheck, MAX_LIMIT, nameCheck, wrongOperation } from './values.ts'

const BURST = 'use `burst` for how many tokens a bucket can save up'
const REFILL = 'use `per`: a bucket refills its whole limit, evenly, within it'

/** Advice for names from other libraries. */
const WORDS: Readonly<Record<string, string>> = {
  windowMs: 'use `per`, for example "15m"',
  length: 'use `lengthMs`',
  duration: 'use `lengthMs`',
  limit: 'use `base`, by layer, category and window',
  max: 'use `base`, by layer, category and window',
  points: 'use `cost` for a price, and `base` for limits',
  price: 'use `cost`',
  tokens: 'use `cost`',
  weight: 'use `cost`',
  limits: 'use `base`, by layer, category and window',
  capacity: BURST,
  maxTokens: BURST,
  bucketSize: BURST,
  rate: REFILL,
  refill: REFILL,
  refillRate: REFILL,
  refillInterval: REFILL,
  interval: REFILL,
}

/** A policy with the right shape, whose names may not match yet. */
type Shape = Omit<Policy, 'base' | 'plans'> & { readonly base: unknown; readonly plans?: unknown }

/** The shape of a policy. {@link policyFaults} checks what depends on its names. */
function policyShape(units: readonly string[]): Check<Shape> {
  return group<Shape>({
    units: optional(unitsCheck()) as Check<readonly (string | UnitDefinition)[] | undefined>,
    windows: listOf(windowCheck(), 1, 8),
    categories: listOf(nameCheck(), 1, 16),
    layers: listOf(
      group({ name: nameCheck(), scope: textLike(/^.{1,64}$/su, '1 to 64 characters'), shared: oneOf(true, false) }),
      1,
      8,
    ),
    operations: tableBy(wrongOperation, operationCheck(units), 'an object'),
    concurrency: optional(concurrencyCheck()),
    base: where<unknown>((value) => value !== undefined, 'the base limits, by layer, category and window'),
    plans: v.optional(v.unknown()),
    answers: optional(aFunction<PolicyAnswers>('a function, for example neutralAnswers()')),
  })
}

function windowCheck(): Check<PolicyWindow> {
  const named = { label: nameCheck(), unit: windowUnitCheck() }
  const twice = refusing<PolicyWindow>('use one of `per`, `lengthMs` and `every`')
  return v.lazy<Check<PolicyWindow>>((value) => {
    const { per, lengthMs, every } = Object(value) as Readonly<Record<string, unknown>>
    if (per !== undefined && (lengthMs !== undefined || every !== undefined)) return twice
    return WINDOW_FORMS.find((form) => form.isUsed(value))!.check(named, value) as Check<PolicyWindow>
  })
}

/** Rejects every value. */
function refusing<T>(message: string): Check<T> {
  return v.custom<T>(() => false, message)
}

function operationCheck(units: readonly string[]): Check<OperationDefinition> {
  return group<OperationDefinition>({
    category: where<string>((value) => typeof value === 'string', 'the name of a category'),
    cost: costCheck(units, { least: 0 }),
    overrun: optional(oneOf<OverrunPolicy>('refuse', 'charge', 'fit')),
    maxOverrun: optional(costCheck(units, { least: 1, most: MAX_LIMIT })),
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

/** Every fault of a policy; empty if it is valid. */
export function policyFaults(policy: unknown): readonly Fault[] {
  const { units, faults: ofUnits } = unitsIn(policy)
  // The units are needed to check everything else.
  if (ofUnits.length > 0) return ofUnits
  const faults = faultsOf(policyShape(units), policy, WORDS)
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
    ...(layers.some(({ shared }) => !shared)
      ? []
      : [{ path: 'layers', message: 'at least one layer must not be shared' }]),
    ...unitFaults(units, windows),
    ...operationFaults(shape, units),
    ...concurrencyFaults(shape),
    ...ofBase,
    // The rest of the checks need a valid base.
    ...(ofBase.length === 0 ? faultsByBase(policy as Policy) : []),
  ]
}

function duplicates(path: string, names: readonly string[]): Fault[] {
  const twice = names.filter((each, index) => names.indexOf(each) !== index)
  return twice.map((each) => ({ path, message: `"${each}" appears twice` }))
}

function operationFaults({ operations, categories }: Shape, units: readonly string[]): Fault[] {
  return Object.entries(operations).flatMap(([name, operation]) => {
    const { category } = operation
    const ofCategory = categories.includes(category)
      ? []
      : [{ path: 'category', message: `not a category: ${noSuchName(category, categories, 'the policy has')}` }]
    const path = (member: string): string => pathOf(['operations', name, ...member.split('.')])
    return [...ofCategory, ...overrunFaults(operation, units)].map((fault) => ({ ...fault, path: path(fault.path) }))
  })
}

function overrunFaults({ overrun = 'refuse', maxOverrun }: OperationDefinition, units: readonly string[]): Fault[] {
  if (overrun === 'refuse') {
    const message = 'has no effect while an overrun is refused: set overrun to "charge" or "fit"'
    return maxOverrun === undefined ? [] : [{ path: 'maxOverrun', message }]
  }
  if (maxOverrun === undefined) {
    const most = units.length === 1 ? `the most ${units[0]!}` : 'by unit, the most'
    const message = `missing; expected ${most} that one commit charges beyond its hold, because overrun is "${overrun}"`
    return [{ path: 'maxOverrun', message }]
  }
  const unsaid = typeof maxOverrun === 'number' ? [] : units.filter((unit) => maxOverrun[unit] === undefined)
  const message = 'missing; this unit has limits: use 0 to charge no overrun'
  return unsaid.map((unit) => ({ path: `maxOverrun.${unit}`, message }))
}

function concurrencyFaults({ concurrency, windows, operations, categories }: Shape): Fault[] {
  if (concurrency === undefined) return []
  const { label, operations: named, categories: namedCategories } = concurrency
  const known = Object.keys(operations)
  const unknown = (member: string, names: readonly string[], there: readonly string[], what: string): Fault[] =>
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
      ? [{ path: 'concurrency', message: 'names nothing: list the `operations`, or `categories`, that need a slot' }]
      : []),
    ...unknown('operations', named ?? [], known, 'an operation'),
    ...unknown('categories', namedCategories ?? [], categories, 'a category'),
  ]
}

/** Checks the whole table: a limit for each window, and optional concurrency limits. */
function baseCheck(shape: Shape): Check<unknown> {
  const { windows, concurrency, categories, layers } = shape
  const limitOf = (label: string): Check<Limit> => limitCheck(unitOfLabel(shape, label))
  const labels = windows.map(({ label }) => [label, limitOf(label)] as const)
  const slots = concurrency === undefined ? [] : [[concurrency.label, optional(limitOf(concurrency.label))] as const]
  const ofCategory = group(Object.fromEntries([...slots, ...labels]))
  const ofLayer = eachKey(categories, () => ofCategory)
  return eachKey(
    layers.map(({ name }) => name),
    () => ofLayer,
  )
}

function faultsByBase(policy: Policy): Fault[] {
  const ofPlans = policy.plans === undefined ? [] : within('plans', faultsOf(plansCheck(policy), policy.plans))
  return [...limitsNothing(policy), ...ofPlans, ...burstFaults(policy)]
}

/** Reports bursts above their limit. A limit of 0 blocks. */
function burstFaults({ windows, base }: Policy): Fault[] {
  return windows.flatMap(({ label, burst }, index) => {
    const limits = Object.values(base).flatMap((ofLayer) => Object.values(ofLayer).map((limits) => limits[label]!))
    const above = limits.filter((limit) => typeof limit === 'number' && limit > 0 && Number(burst) > limit)
    return above.length === 0
      ? []
      : [{ path: `windows.${index}.burst`, message: burstAbove(Math.min(...(above as number[]))) }]
  })
}

/** The message for a burst that is too large. @param limit the lowest limit */
export function burstAbove(limit: number): string {
  return `at most the limit, ${limit}; for a larger burst give a longer \`per\``
}

/** Reports categories whose operations need a slot, but whose concurrency no layer limits. */
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
