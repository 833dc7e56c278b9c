import { type Amounts, TOKENS } from '../windows/units.ts'

/** Money is counted in whole small parts of a currency. */
export interface MoneyFormat {
  /** ISO 4217, for example `USD`. */
  readonly currency: string
  /** Decimal digits that the counted parts have below one of the currency: 6 of micro-dollars. */
  readonly scale: number
}

/** A unit with how people read its amounts. */
export interface UnitDefinition<Unit extends string = string> {
  /** Name in windows, costs and identities of counters: 1 to 32 of `A-Z a-z 0-9 _ -`; `slots` is reserved. */
  readonly name: Unit
  /** There for money: amounts are shown as such. */
  readonly format?: MoneyFormat | undefined
}

/** A cost as callers write it: a number where a policy counts one unit, else amounts by unit. */
export type Cost = number | { readonly [unit: string]: number | undefined }

/** An amount as decisions show it: a number where a policy counts one unit, else one for each unit. */
export type Amount = number | { readonly [unit: string]: number }

/** What the types of an engine know of what its policy counts, and for whom; by itself nothing. */
export interface Counting {
  readonly unit: string
  readonly cost: Cost
  readonly amount: Amount
  /** The member `unit` of a value in one of them. */
  readonly named: { readonly unit?: string | undefined }
  /** The member that says what a hold has. */
  readonly held: { readonly tokens?: number; readonly cost?: Amount }
  readonly names: PolicyNames
}

/** A policy that counts one unit: costs and amounts are numbers. */
export interface OneUnit<Unit extends string = 'tokens', Names extends PolicyNames = PolicyNames> {
  readonly unit: Unit
  readonly cost: number
  readonly amount: number
  readonly named: { readonly unit?: Unit | undefined }
  readonly held: { readonly tokens: number }
  readonly names: Names
}

/** A policy that counts several: costs and amounts are by unit, and a value in one unit names it. */
export interface SeveralUnits<Unit extends string, Names extends PolicyNames = PolicyNames> {
  readonly unit: Unit
  readonly cost: { readonly [unit in Unit]?: number | undefined }
  readonly amount: { readonly [unit in Unit]: number }
  readonly named: { readonly unit: Unit }
  readonly held: { readonly cost: { readonly [unit in Unit]: number } }
  readonly names: Names
}

/** The types that describe a policy with these units, `UnitsOf<'requests' | 'tokens'>`, and names. */
export type UnitsOf<Unit extends string, Names extends PolicyNames = PolicyNames> = string extends Unit
  ? Counting
  : IsUnion<Unit> extends true
    ? SeveralUnits<Unit, Names>
    : OneUnit<Unit, Names>

/** Units as a policy lists them. */
type Units = readonly (string | UnitDefinition)[]

const ONLY_TOKENS: readonly string[] = [TOKENS]

/** What the limits of a policy count, by name, in the order of costs. */
export function unitNames({ units }: { readonly units?: Units | undefined }): readonly string[] {
  return units === undefined ? ONLY_TOKENS : units.map((unit) => (typeof unit === 'string' ? unit : unit.name))
}

/** How people read a unit's amounts; `undefined`: as numbers. */
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

/** A checked cost as a vector, one number a unit; units that it does not name are as in `missing`. */
export function vectorOf<Missing>(
  units: readonly string[],
  cost: Cost,
  missing: readonly Missing[],
): readonly (number | Missing)[] {
  return typeof cost === 'number' ? [cost] : units.map((unit, at) => cost[unit] ?? missing[at]!)
}

/** Nothing of each unit. */
export function noneOf(units: readonly string[]): readonly number[] {
  return units.map(() => 0)
}

/** A vector as callers see it: the number of a policy's only unit, or one by each name. */
export function amountOf(units: readonly string[], vector: readonly number[]): Amount {
  if (units.length === 1) return vector[0]!
  const amounts: Record<string, number> = {}
  for (let at = 0; at < units.length; at++) amounts[units[at]!] = vector[at]!
  return amounts
}

/** The amounts of a cost or an amount that callers see, in the order of the units. */
export function amountsOf(units: readonly string[], amount: Amount): readonly number[] {
  return typeof amount === 'number' ? [amount] : units.map((unit) => amount[unit] ?? 0)
}

/** The amount of each unit, from what two say of it; of units that a cost does not name, only from the first. */
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

/** The amount of a unit; a number is that of a policy's only one. */
export function ofUnit(amount: Amount, unit: string | undefined): number {
  return typeof amount === 'number' ? amount : (amount[unit ?? ''] ?? 0)
}

/** The costs of a request, as stores take them: one number a unit, and behind them its slots. */
export function costsOf(vector: readonly number[], slot: boolean): readonly number[] {
  return [...vector, Number(slot)]
}

/** Whether costs take a slot. */
export function takesSlots(costs: readonly number[]): boolean {
  return costs.at(-1) !== 0
}

/** Whether costs are 0 in every unit; slots are none of them. */
export function isFree(costs: readonly number[]): boolean {
  for (let unit = 0; unit < costs.length - 1; unit++) if (costs[unit] !== 0) return false
  return true
}

/** A cost that a caller gave, as the fingerprint of an id has it: a number as it is, a record as `name=n` in one order. */
export function costText(cost: Cost | undefined): string {
  if (typeof cost !== 'object') return String(cost ?? '')
  const given: Amounts = Object.fromEntries(Object.entries(cost).filter(([, amount]) => amount !== undefined) as never)
  const names = Object.keys(given).sort()
  return names.map((name) => `${name}=${given[name]}`).join(',')
}

/** An amount for programmers: the number of a policy's only unit, or `1 requests, 812 tokens`. */
export function amountText(amount: Amount): string {
  if (typeof amount === 'number') return String(amount)
  return Object.entries(amount)
    .map(([unit, each]) => `${each} ${unit}`)
    .join(', ')
}

/** Who asks: one string, or one key for each layer that is not shared. Any text of 1 to 256 bytes. */
export type Subject = string | Readonly<Record<string, string>>

/** The names of a policy, as the types of its engine know them; by itself any. */
export interface PolicyNames {
  /** Who asks: a string; with several layers that are not shared an object with a key for each. */
  readonly subject: Subject
  readonly plan: string
  /** A layer in which each subject has windows of its own. */
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

/** What a subject is where these layers are not shared. */
export type SubjectOf<OwnLayer extends string> = string extends OwnLayer
  ? Subject
  : IsUnion<OwnLayer> extends true
    ? { readonly [layer in OwnLayer]: string }
    : string

/** The label of a limit: of a window, or of concurrency. */
export type LabelIn<Names extends PolicyNames> = Names['window'] | Names['slots']

/** A name of a layer, shared or not. */
export type LayerIn<Names extends PolicyNames> = Names['ownLayer'] | Names['sharedLayer']

/** A table with an entry for some of these names; by names that nobody knows, as any table. */
export type Some<Name extends string, T> = string extends Name
  ? Readonly<Record<Name, T>>
  : { readonly [name in Name]?: T }
