import { type Amounts, TOKENS } from '../windows/units.ts'

/** Money is counted in integers, in a fraction of a currency. */
export interface MoneyFormat {
  /** ISO 4217, for example `USD`. */
  readonly currency: string
  /** How many decimal digits of the currency one unit stands for: 6 for micro-dollars. */
  readonly scale: number
}

/** A unit, and how to display its amounts. */
export interface UnitDefinition<Unit extends string = string> {
  /** Name in windows, costs and identities of counters: 1 to 32 of `A-Z a-z 0-9 _ -`; `slots` is reserved. */
  readonly name: Unit
  /** For money: how to display amounts. */
  readonly format?: MoneyFormat | undefined
}

/** A cost from a caller: a number if the policy has one unit, else amounts by unit. */
export type Cost = number | { readonly [unit: string]: number | undefined }

/** An amount in a decision: a number if the policy has one unit, else amounts by unit. */
export type Amount = number | { readonly [unit: string]: number }

/** A policy's units and names, as far as its engine's types know them. By default, any. */
export interface Counting {
  readonly unit: string
  readonly cost: Cost
  readonly amount: Amount
  /** The member `unit` of a value with a unit. */
  readonly named: { readonly unit?: string | undefined }
  /** The member of a hold with its amounts. */
  readonly held: { readonly tokens?: number; readonly cost?: Amount }
  readonly names: PolicyNames
}

/** The types of a policy with one unit: costs and amounts are numbers. */
export interface OneUnit<Unit extends string = 'tokens', Names extends PolicyNames = PolicyNames> {
  readonly unit: Unit
  readonly cost: number
  readonly amount: number
  readonly named: { readonly unit?: Unit | undefined }
  readonly held: { readonly tokens: number }
  readonly names: Names
}

/** The types of a policy with several units: costs and amounts are by unit, and values with a unit name it. */
export interface SeveralUnits<Unit extends string, Names extends PolicyNames = PolicyNames> {
  readonly unit: Unit
  readonly cost: { readonly [unit in Unit]?: number | undefined }
  readonly amount: { readonly [unit in Unit]: number }
  readonly named: { readonly unit: Unit }
  readonly held: { readonly cost: { readonly [unit in Unit]: number } }
  readonly names: Names
}

/** The types of a policy with these units, `UnitsOf<'requests' | 'tokens'>`, and names. */
export type UnitsOf<Unit extends string, Names extends PolicyNames = PolicyNames> = string extends Unit
  ? Counting
  : IsUnion<Unit> extends true
    ? SeveralUnits<Unit, Names>
    : OneUnit<Unit, Names>

/** The list of units in a policy. */
type Units = readonly (string | UnitDefinition)[]

const ONLY_TOKENS: readonly string[] = [TOKENS]

/** The names of a policy's units, in the order of costs. */
export function unitNames({ units }: { readonly units?: Units | undefined }): readonly string[] {
  return units === undefined ? ONLY_TOKENS : units.map((unit) => (typeof unit === 'string' ? unit : unit.name))
}

/** Returns the format of a unit's amounts; `undefined`: plain numbers. */
export function formatOf(
  { units = [] }: { readonly units?: Units | undefined },
  unit: string,
): MoneyFormat | undefined {
  const found = units.find((each) => typeof each !== 'string' && each.name === unit)
  return (found as UnitDefinition | undefined)?.format
}

/** The unit that a window counts. */
export function unitOfWindow(
  units: readonly string[],
  { unit = units[0]! }: { readonly unit?: string | undefined },
): string {
  return unit
}

/** Converts a checked cost to a vector, one number per unit. Units that it leaves out are taken from `missing`. */
export function vectorOf<Missing>(
  units: readonly string[],
  cost: Cost,
  missing: readonly Missing[],
): readonly (number | Missing)[] {
  return typeof cost === 'number' ? [cost] : units.map((unit, at) => cost[unit] ?? missing[at]!)
}

/** 0 of each unit. */
export function noneOf(units: readonly string[]): readonly number[] {
  return units.map(() => 0)
}

/** Converts a vector for callers: to a number if the policy has one unit, else to amounts by unit. */
export function amountOf(units: readonly string[], vector: readonly number[]): Amount {
  if (units.length === 1) return vector[0]!
  const amounts: Record<string, number> = {}
  for (let at = 0; at < units.length; at++) amounts[units[at]!] = vector[at]!
  return amounts
}

/** Converts a cost to amounts in the order of the units. */
export function amountsOf(units: readonly string[], amount: Amount): readonly number[] {
  return typeof amount === 'number' ? [amount] : units.map((unit) => amount[unit] ?? 0)
}

/** Combines two amounts unit by unit. Units that the cost leaves out are taken from the first. */
export function combined(
  amount: Amount,
  cost: Cost,
  combine: (one: number, other: number | undefined) => number,
): Amount {
  if (typeof amount === 'number') {
    return combine(amount, typeof cost === 'number' ? cost : Object.values(cost)[0])
  }
  const other = typeof cost === 'number' ? {} : cost
  return Object.fromEntries(Object.entries(amount).map(([unit, one]) => [unit, combine(one, other[unit])]))
}

/** Returns the amount of a unit. A number is the amount of the policy's only unit. */
export function ofUnit(amount: Amount, unit: string | undefined): number {
  return typeof amount === 'number' ? amount : (amount[unit ?? ''] ?? 0)
}

/** Returns a request's costs for stores: one number per unit, then its slots. */
export function costsOf(vector: readonly number[], slot: boolean): readonly number[] {
  return [...vector, Number(slot)]
}

/** Whether costs take a slot. */
export function takesSlots(costs: readonly number[]): boolean {
  return costs.at(-1) !== 0
}

/** Whether costs are 0 in every unit. Slots don't count. */
export function isFree(costs: readonly number[]): boolean {
  for (let unit = 0; unit < costs.length - 1; unit++) if (costs[unit] !== 0) return false
  return true
}

/** Returns a caller's cost for an id's fingerprint: a number as it is, a record as `name=n` in a fixed order. */
export function costText(cost: Cost | undefined): string {
  if (typeof cost !== 'object') return String(cost ?? '')
  const given: Amounts = Object.fromEntries(Object.entries(cost).filter(([, amount]) => amount !== undefined) as never)
  const names = Object.keys(given).sort()
  return names.map((name) => `${name}=${given[name]}`).join(',')
}

/** Returns an amount for messages: a number, or `1 requests, 812 tokens`. */
export function amountText(amount: Amount): string {
  if (typeof amount === 'number') return String(amount)
  return Object.entries(amount)
    .map(([unit, each]) => `${each} ${unit}`)
    .join(', ')
}

/** Who makes a request: a string, or a key for each layer that isn't shared. Any text that isn't empty. */
export type Subject = string | Readonly<Record<string, string>>

/** A policy's names, for its engine's types. The default is any name. */
export interface PolicyNames {
  /** Who makes a request: a string, or an object with a key per layer if several layers aren't shared. */
  readonly subject: Subject
  readonly plan: string
  /** A layer in which each subject has its own windows. */
  readonly ownLayer: string
  readonly sharedLayer: string
  readonly category: string
  /** A window's label. */
  readonly window: string
  /** The label of concurrency. */
  readonly slots: string
}

/** Whether a type is a union of several. */
type IsUnion<T, Each = T> = T extends T ? ([Each] extends [T] ? false : true) : never

/** The type of a subject, given the layers that aren't shared. */
export type SubjectOf<OwnLayer extends string> = string extends OwnLayer
  ? Subject
  : IsUnion<OwnLayer> extends true
    ? { readonly [layer in OwnLayer]: string }
    : string

/** The label of a limit: a window or concurrency. */
export type LabelIn<Names extends PolicyNames> = Names['window'] | Names['slots']

/** A name of a layer, shared or not. */
export type LayerIn<Names extends PolicyNames> = Names['ownLayer'] | Names['sharedLayer']

/** A table with an entry for some of these names. If the names are unknown, any table. */
export type Some<Name extends string, T> = string extends Name
  ? Readonly<Record<Name, T>>
  : { readonly [name in Name]?: T }
