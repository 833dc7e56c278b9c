import type { Fault } from '../errors/quota-error.ts'
import { isObject } from '../options/checks.ts'
import { faultsOf, noSuchName, pathOf, within } from '../options/faults.ts'
import { REQUESTS, SLOTS } from '../windows/units.ts'
import { counts, identityOf } from './cells.ts'
import type { LayerDefinition, LimitRule, OverrunPolicy, Policy } from './policy.ts'
import { costCheck, numberCheck, plainCost, plansCheck } from './rules.ts'
import { unitNames, vectorOf } from './units.ts'
import { MAX_LIMIT } from './values.ts'
import {
  layersOf,
  operationsOf,
  ruleOf,
  unitsOf,
  type Written,
  type WrittenLimit,
  type WrittenOperation,
} from './written.ts'

/** The most limits of a policy. */
const MAX_LIMITS = 256

/** A policy that may have faults, as far as it is known. */
interface Drafted {
  readonly units: Policy['units']
  readonly layers: readonly LayerDefinition[]
  readonly limits: readonly LimitRule[]
}

/** Returns faults between the names of a policy. */
export function policyFaults(written: Written): Fault[] {
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
