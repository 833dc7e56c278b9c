import { REQUESTS, SLOTS } from '../windows/identity.ts'
import type { Burst } from '../windows/kinds/bucket.ts'
import { millisecondsOf } from '../windows/kinds/rolling.ts'
import type { WindowDefinition } from '../windows/kinds.ts'
import { readMoney } from './money.ts'
import type { LayerDefinition, LimitRule, OverrunPolicy, Policy, PolicyAnswers } from './policy.ts'
import { currencyOf, limitNumber, limitNumbers, plainCost } from './rules.ts'
import type { PlainCost, UnitDefinition } from './units.ts'

/** A policy as written, after a check of each member by itself. */
export interface Written {
  readonly limits: Readonly<Record<string, WrittenLimit>>
  readonly operations?: Readonly<Record<string, WrittenOperation>> | undefined
  readonly unit?: unknown
  readonly titles?: Readonly<Record<string, string>> | undefined
  readonly plans?: Readonly<Record<string, object>> | undefined
  readonly planOf?: string | undefined
  readonly answers?: PolicyAnswers | undefined
}

export interface WrittenLimit {
  readonly by?: string
  readonly shared?: string
  readonly limit?: unknown
  readonly of?: unknown
  readonly concurrency?: number | 'unlimited'
  readonly per?: string
  readonly burst?: Burst
  readonly every?: string
  readonly timeZone?: string
  readonly for?: string | readonly string[]
  readonly title?: string
  readonly shadow?: boolean
  readonly formerly?: string
}

export interface WrittenOperation {
  readonly category?: string | undefined
  readonly cost?: unknown
  readonly free?: boolean | undefined
  readonly overrun?: OverrunPolicy | undefined
  readonly maxOverrun?: unknown
}

const ONLY_OPERATION: Readonly<Record<string, WrittenOperation>> = { request: {} }

/** The operations of a policy. Without any there is one, `request`. */
export function operationsOf({ operations = ONLY_OPERATION }: Written): Readonly<Record<string, WrittenOperation>> {
  return operations
}

/**
 * The own layer of policies whose limits are all shared. Subjects need a key for ids, holds and settings.
 *
 * @param shared which may have any name
 */
function subjectLayer(shared: readonly LayerDefinition[]): LayerDefinition {
  let name = 'subject'
  while (shared.some((layer) => layer.name === name)) name += '-'
  return { name, title: 'subject', shared: false }
}

/** The layers in the order in which limits name them. */
export function layersOf({ limits, titles }: Written): readonly LayerDefinition[] {
  const named = Object.values(limits).map(({ by, shared }) => [by ?? shared ?? '', shared !== undefined] as const)
  const layers = [...new Map(named)].map(([name, shared]) => ({ name, title: titleOf(titles, name), shared }))
  return layers.some(({ shared }) => !shared) ? layers : [subjectLayer(layers), ...layers]
}

function titleOf(titles: Written['titles'], name: string): string {
  return titles !== undefined && Object.hasOwn(titles, name) ? (titles[name] ?? name) : name
}

/** The units that limits count: the policy's, then each other one. */
export function unitsOf({ limits, unit }: Written): readonly (string | UnitDefinition)[] {
  const counting = Object.values(limits).filter(({ concurrency }) => concurrency === undefined)
  const byName = new Map<string, string | UnitDefinition>()
  for (const each of [plainUnit(unit ?? REQUESTS), ...counting.map((limit) => unitOfLimit(limit, unit))]) {
    const name = nameOfUnit(each)
    if (!byName.has(name) || typeof each !== 'string') byName.set(name, each)
  }
  return [...byName.values()]
}

/** The unit that a limit counts. An amount of money says it, too. */
function unitOfLimit({ limit, of, concurrency }: WrittenLimit, unit: unknown): string | UnitDefinition {
  if (concurrency !== undefined) return SLOTS
  if (of === undefined || typeof of === 'string') {
    const currency = isObjectOfMoney(limit)
    if (currency !== undefined && (of === undefined || of.toLowerCase() === currency.name)) return currency
  }
  return plainUnit(of ?? unit ?? REQUESTS)
}

function isObjectOfMoney(limit: unknown): UnitDefinition | undefined {
  const amount = readMoney(limit)
  return amount && currencyOf({ money: amount.unit.toUpperCase() })
}

function plainUnit(unit: unknown): string | UnitDefinition {
  return typeof unit === 'string' ? unit : (currencyOf(unit) ?? REQUESTS)
}

function nameOfUnit(unit: string | UnitDefinition): string {
  return typeof unit === 'string' ? unit : unit.name
}

/** Makes a policy of what was written without faults. */
export function policyOf(written: Written): Policy {
  const { plans = {}, planOf, answers } = written
  const units = unitsOf(written)
  const layers = layersOf(written)
  const limits = Object.entries(written.limits).map(([name, limit]) => ruleOf({ written, layers, units }, name, limit))
  const operations = Object.entries(operationsOf(written)).map(([name, operation]) => [name, plainOperation(operation)])
  return {
    units,
    layers,
    limits,
    operations: Object.fromEntries(operations),
    plans: Object.fromEntries(
      Object.entries(plans).map(([plan, numbers]) => [plan, limitNumbers({ limits, units }, numbers)]),
    ),
    ...(planOf !== undefined && { planOf }),
    ...(answers !== undefined && { answers }),
  }
}

function plainOperation({ category, cost, free, overrun, maxOverrun }: WrittenOperation): Policy['operations'][string] {
  const price = free === true && cost === undefined ? FREE : cost
  return {
    ...(category !== undefined && { category }),
    ...(price !== undefined && { cost: plainCost(price) as never }),
    ...(overrun !== undefined && { overrun }),
    ...(maxOverrun !== undefined && { maxOverrun: plainCost(maxOverrun) as never }),
  }
}

/** The price of operations that cost nothing. Units that a price leaves out cost 0. */
const FREE: PlainCost = { [REQUESTS]: 0 }

/** A limit's rule. The number may be invalid; it is checked with the rule. */
export function ruleOf(
  { written, layers, units }: Pick<Policy, 'layers' | 'units'> & { readonly written: Written },
  name: string,
  limit: WrittenLimit,
): LimitRule {
  const layer = layers.findIndex((each) => each.name === (limit.by ?? limit.shared))
  const counted = limit.for === undefined ? undefined : [limit.for].flat()
  const operations = Object.entries(operationsOf(written))
  const unit = nameOfUnit(unitOfLimit(limit, written.unit))
  const window = windowOf(limit.formerly ?? name, limit)
  return {
    name,
    title: limit.title ?? layers[layer]?.title ?? name,
    layer,
    limit: limit.concurrency ?? (limitNumber(units, { unit, window: undefined }, limit.limit, false) as number),
    unit,
    operations: counted && operations.filter((each) => isCounted(counted, ...each)).map(([operation]) => operation),
    window,
    shadow: limit.shadow === true,
    ...(limit.formerly !== undefined && { formerly: limit.formerly }),
  }
}

function isCounted(counted: readonly string[], operation: string, { category }: WrittenOperation): boolean {
  return counted.includes(operation) || (category !== undefined && counted.includes(category))
}

const TIME_MEMBERS = ['burst', 'every', 'timeZone', 'weekStartsOn', 'anchor'] as const

function windowOf(label: string, limit: WrittenLimit): WindowDefinition | undefined {
  if (limit.concurrency !== undefined) return undefined
  const given = limit as Readonly<Record<string, unknown>>
  const members = TIME_MEMBERS.filter((name) => given[name] !== undefined).map((name) => [name, given[name]])
  const length = limit.per === undefined ? {} : { lengthMs: millisecondsOf(limit.per) }
  return { label, ...length, ...Object.fromEntries(members) } as WindowDefinition
}
