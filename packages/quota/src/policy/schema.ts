import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import {
  aFunction,
  type Check,
  type Checks,
  group,
  isObject,
  isPlain,
  listOf,
  oneOf,
  optional,
  tableBy,
  tableEach,
  textLike,
} from '../options/checks.ts'
import { faultsOf, noSuchName, pathOf, within } from '../options/faults.ts'
import { REQUESTS, SLOTS } from '../windows/identity.ts'
import { perCheck } from '../windows/kinds/bucket.ts'
import { everyCheck } from '../windows/kinds/calendar.ts'
import { counts, identityOf } from './cells.ts'
import { readMoney } from './money.ts'
import type { LayerDefinition, LimitRule, OverrunPolicy, Policy, PolicyAnswers } from './policy.ts'
import { costCheck, numberCheck, plainCost, plansCheck, unitCheck } from './rules.ts'
import { unitNames, vectorOf } from './units.ts'
import { layerNameCheck, limitCheck, MAX_LIMIT, NAME, nameCheck, wrongName } from './values.ts'
import {
  layersOf,
  operationsOf,
  policyOf,
  ruleOf,
  unitsOf,
  type Written,
  type WrittenLimit,
  type WrittenOperation,
} from './written.ts'

const BURST = 'use `burst` for how many tokens a bucket can save up'

/** Advice for names from other libraries. */
const WORDS: Readonly<Record<string, string>> = {
  windowMs: 'use `per`, for example "15m"',
  lengthMs: 'use `per`, for example "15m"',
  duration: 'use `per`, for example "15m"',
  interval: 'use `per`, for example "15m"',
  max: 'use `limit`',
  points: 'use `limit`',
  unit: 'use `of`',
  key: 'use `by`',
  capacity: BURST,
  maxTokens: BURST,
  refillRate: 'a bucket refills its `limit` per `per`',
}

/** The members of a policy as written. Everything else among an engine's options is its own. */
export const POLICY_MEMBERS: readonly string[] = [
  'limits',
  'operations',
  'unit',
  'titles',
  'plans',
  'planOf',
  'answers',
]

/** Checks a policy and completes it. It is `undefined` if there are faults. */
export function readPolicy(definition: unknown): { readonly policy?: Policy; readonly faults: readonly Fault[] } {
  const given = withoutUndefined(definition)
  const faults = faultsOf(writtenCheck(), given, WORDS)
  if (faults.length > 0) return { faults }
  const written = given as Written
  const found = policyFaults(written)
  return found.length > 0 ? { faults: found } : { policy: policyOf(written), faults: [] }
}

/** Removes members that are `undefined`, because optional members may be. */
function withoutUndefined(value: unknown): unknown {
  if (!isPlain(value) || readMoney(value) !== undefined) return value
  const given = Object.entries(value).filter(([, each]) => each !== undefined)
  return Object.fromEntries(given.map(([name, each]) => [name, withoutUndefined(each)]))
}

function writtenCheck(): Check<Written> {
  const title = textLike(/^.{1,64}$/su, '1 to 64 characters')
  return group<Written>({
    limits: tableEach(
      (name) => wrongName(name, "a limit's name") ?? limitDefinitionCheck(title),
      'an object of limits by name',
    ),
    operations: optional(tableBy((name) => wrongName(name, "an operation's name"), operationCheck(), 'an object')),
    unit: optional(unitCheck()) as Check<Written['unit']>,
    titles: optional(tableBy(() => undefined, title, 'an object of texts')),
    plans: optional(v.unknown()) as Check<Written['plans']>,
    planOf: optional(layerNameCheck('a layer')),
    answers: optional(aFunction<PolicyAnswers>('a function, for example neutralAnswers()')),
  })
}

const TIMES = ['per', 'burst', 'every', 'timeZone', 'weekStartsOn', 'anchor'] as const
/** What some limits have, to suggest for unknown members of others. */
const MEMBERS: readonly string[] = ['by', 'shared', 'concurrency', ...TIMES]

function limitDefinitionCheck(title: Check<string>): Check<WrittenLimit> {
  const common = {
    for: optional(namesCheck()),
    title: optional(title),
    shadow: optional(oneOf(true, false)),
    formerly: optional(textLike(NAME, 'the name that the limit had')),
  }
  return v.lazy<Check<WrittenLimit>>((value) => {
    const given = Object(value) as Readonly<Record<string, unknown>>
    const has = (name: string): boolean => Object.hasOwn(given, name)
    if (has('concurrency')) {
      const others = ['limit', 'of', ...TIMES].filter(has)
      const none = refusals(others, 'not with concurrency, which counts work in progress')
      return group({ ...whose(has), concurrency: limitCheck(SLOTS), ...common, ...none } as Checks<never>, MEMBERS)
    }
    const members = { ...whose(has), limit: v.unknown(), of: optional(unitCheck()), ...common }
    return timeCheck(has, members as Checks<object>)
  })
}

/** Checks a limit's time: `per`, maybe with a `burst`, or `every`. */
function timeCheck(has: (name: string) => boolean, members: Checks<object>): Check<never> {
  if (has('per') && has('every')) {
    const any = Object.fromEntries(TIMES.filter(has).map((name) => [name, optional(v.unknown())]))
    return group({
      ...members,
      ...any,
      ...refusals(['every'], 'a limit has one time: remove `per` or `every`'),
    }) as never
  }
  const check = has('every') || has('timeZone') ? everyCheck : perCheck
  return check(members, MEMBERS) as Check<never>
}

/** Checks whose limit it is: `by` or `shared`. */
function whose(has: (name: string) => boolean): object {
  const what = 'whose limit it is: by: "user" for each user, or shared: "service" for all together'
  if (!has('shared')) return { by: v.lazy((by) => (Array.isArray(by) ? refused(SEVERAL_KEYS) : layerNameCheck(what))) }
  const shared = layerNameCheck('a name, for example "service"')
  return has('by') ? { shared, by: refused('not with `shared`: a limit is for each subject, or for all') } : { shared }
}

const SEVERAL_KEYS =
  'several keys in one limit are not supported: give the subject one more key that joins them, such as userAndModel'

function refusals(names: readonly string[], message: string): object {
  return Object.fromEntries(names.map((name) => [name, refused(message)]))
}

function refused(message: string): Check<never> {
  return v.custom<never>(() => false, message)
}

function namesCheck(): Check<unknown> {
  const name = textLike(NAME, 'the name of an operation or category')
  return v.lazy<Check<unknown>>((of) => (Array.isArray(of) ? listOf(name, 1, 1_000) : name))
}

function operationCheck(): Check<WrittenOperation> {
  return group<WrittenOperation>({
    category: optional(nameCheck()),
    cost: optional(v.unknown()),
    free: optional(oneOf(true, false)),
    overrun: optional(oneOf<OverrunPolicy>('refuse', 'charge', 'fit')),
    maxOverrun: optional(v.unknown()),
  })
}

/** The most limits of a policy. */
const MAX_LIMITS = 256

/** A policy that may have faults, as far as it is known. */
interface Drafted {
  readonly units: Policy['units']
  readonly layers: readonly LayerDefinition[]
  readonly limits: readonly LimitRule[]
}

/** Returns faults between the names of a policy. */
function policyFaults(written: Written): Fault[] {
  const entries = Object.entries(written.limits)
  if (entries.length === 0 || entries.length > MAX_LIMITS) {
    return [{ path: 'limits', message: `expected 1 to ${MAX_LIMITS} limits, got ${entries.length}` }]
  }
  const units = unitsOf(written)
  const layers = layersOf(written)
  const limits = entries.map(([name, limit]) => ruleOf({ written, layers, units }, name, limit))
  const draft = { units, layers, limits }
  const found = [
    ...entries.flatMap(([name, limit], at) => limitFaults(written, draft, limits[at]!, limit).map(inLimit(name))),
    ...sameCounters(draft),
    ...titleFaults(written, layers),
    ...planOfFaults(written, layers),
    ...Object.entries(operationsOf(written)).flatMap(([name, operation]) =>
      operationFaults(operation, units).map(inOperation(name)),
    ),
    ...within('plans', faultsOf(plansCheck(draft, { asStored: false }), 'plans' in written ? written.plans : {})),
  ]
  return found.length > 0 ? found : uncounted(written, draft)
}

function inLimit(name: string): (fault: Fault) => Fault {
  return (fault) => ({ ...fault, path: pathOf(['limits', name, ...fault.path.split('.')]) })
}

function inOperation(name: string): (fault: Fault) => Fault {
  return (fault) => ({ ...fault, path: pathOf(['operations', name, ...fault.path.split('.')]) })
}

function limitFaults(written: Written, draft: Drafted, rule: LimitRule, limit: WrittenLimit): Fault[] {
  const operations = operationsOf(written)
  const names = Object.keys(operations)
  const categories = Object.values(operations).flatMap(({ category }) => category ?? [])
  const targets = [...new Set([...names, ...categories])]
  const faults: Fault[] = []
  if (limit.concurrency === undefined) {
    const ofNumber = faultsOf(numberCheck(draft, { ...rule, window: undefined }, { asStored: false }), limit.limit)
    faults.push(...within('limit', ofNumber))
  } else if (limit.for === undefined && names.length > 1) {
    faults.push({ path: 'for', message: 'missing; expected the operations whose work takes a slot' })
  }
  for (const name of [limit.for ?? []].flat()) {
    if (targets.includes(name)) continue
    const message = `not an operation or category: ${noSuchName(name, targets, 'the policy has')}`
    faults.push({ path: 'for', message })
  }
  const { by, shared, burst } = limit
  const isBoth = Object.values(written.limits).some(
    (other) => (other.by ?? '') === shared || (other.shared ?? '') === by,
  )
  if (isBoth)
    faults.push({ path: by === undefined ? 'shared' : 'by', message: 'is `by` in one limit and `shared` in another' })
  const isAbove = typeof rule.limit === 'number' && rule.limit > 0 && typeof burst === 'number' && burst > rule.limit
  if (isAbove) {
    faults.push({
      path: 'burst',
      message: `at most the limit, ${rule.limit}; for a larger burst give a longer \`per\``,
    })
  }
  return [...faults, ...formerFaults(written, rule)]
}

/** A former name that is another limit's: its stored numbers and counter can go on in one of them only. */
function formerFaults({ limits }: Written, { name, formerly }: LimitRule): Fault[] {
  if (formerly === undefined) return []
  if (formerly === name) return [{ path: 'formerly', message: "expected the limit's former name" }]
  const other = Object.keys(limits).find(
    (each) => each === formerly || (each !== name && limits[each]?.formerly === formerly),
  )
  if (other === undefined) return []
  return [{ path: 'formerly', message: `limits.${other} already continues it: remove it from one of them` }]
}

/** Two limits of one layer that would share a counter. */
function sameCounters({ limits, layers }: Drafted): Fault[] {
  const seen = new Map<string, string>()
  return limits.flatMap((rule): Fault[] => {
    const key = `${layers[rule.layer]?.name} ${identityOf(rule)}`
    const other = seen.get(key)
    seen.set(key, rule.name)
    if (other === undefined) return []
    return [
      { path: pathOf(['limits', rule.name]), message: `has the same counter as limits.${other}: rename one of them` },
    ]
  })
}

function titleFaults({ titles = {} }: Written, layers: readonly LayerDefinition[]): Fault[] {
  const names = layers.map(({ name }) => name)
  return Object.keys(titles)
    .filter((name) => !names.includes(name))
    .map((name) => ({
      path: pathOf(['titles', name]),
      message: `no limit is by or shared ${noSuchName(name, names, 'there are')}`,
    }))
}

function planOfFaults({ planOf }: Written, layers: readonly LayerDefinition[]): Fault[] {
  const own = layers.filter(({ shared }) => !shared).map(({ name }) => name)
  if (planOf === undefined || own.includes(planOf)) return []
  return [{ path: 'planOf', message: `no limit is by ${noSuchName(planOf, own, 'there are')}` }]
}

function operationFaults(operation: WrittenOperation, units: Policy['units']): Fault[] {
  const { cost, overrun = 'refuse', maxOverrun } = operation
  const ofCost = cost === undefined ? [] : within('cost', faultsOf(costCheck(units, { least: 0 }), cost))
  const most = costCheck(units, { least: 1, most: MAX_LIMIT })
  const ofMost = maxOverrun === undefined ? [] : within('maxOverrun', faultsOf(most, maxOverrun))
  return [...ofCost, ...ofMost, ...overrunFaults(overrun, maxOverrun, unitNames({ units }))]
}

function overrunFaults(overrun: OverrunPolicy, maxOverrun: unknown, units: readonly string[]): Fault[] {
  if (overrun === 'refuse') {
    const message = 'has no effect while an overrun is refused: set overrun to "charge" or "fit"'
    return maxOverrun === undefined ? [] : [{ path: 'maxOverrun', message }]
  }
  if (maxOverrun === undefined) {
    const most = units.length === 1 ? `the most ${units[0]!}` : 'by unit, the most'
    const message = `missing; expected ${most} that one commit charges beyond its hold, because overrun is "${overrun}"`
    return [{ path: 'maxOverrun', message }]
  }
  const given = isObject(maxOverrun) && units.length > 1 ? maxOverrun : undefined
  const unsaid = given ? units.filter((unit) => unit !== REQUESTS && given[unit] === undefined) : []
  const message = 'missing; this unit has limits: use 0 to charge no overrun'
  return unsaid.map((unit) => ({ path: `maxOverrun.${unit}`, message }))
}

/** Operations that would run without any limit by mistake, and names that mean two things. */
function uncounted(written: Written, { units, limits }: Drafted): Fault[] {
  const operations = operationsOf(written)
  const categories = new Set(Object.values(operations).flatMap(({ category }) => category ?? []))
  return Object.entries(operations).flatMap(([name, { category, cost, free }]): Fault[] => {
    const path = pathOf(['operations', name])
    if (categories.has(name) && category !== name) {
      return [{ path, message: `"${name}" is also a category, which this operation isn't in: rename one of them` }]
    }
    if (free === true) return []
    const counting = limits.filter((rule) => counts(rule, name))
    if (counting.length === 0) return [{ path, message: 'no limit counts it: say free: true if that is meant' }]
    const names = unitNames({ units })
    const standard = names.map((unit) => Number(unit === REQUESTS))
    const price = vectorOf(names, cost === undefined ? {} : plainCost(cost), standard)
    const isCharged = counting.some(({ unit }) => unit === SLOTS || price[names.indexOf(unit)] !== 0)
    if (isCharged) return []
    const counted = [...new Set(counting.map(({ unit }) => unit))].join(', ')
    return [{ path, message: `costs 0 of what its limits count, ${counted}: give it a cost, or say free: true` }]
  })
}
