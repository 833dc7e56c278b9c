import type { MoneyAmount, MoneyFormat, UnitDefinition } from './money.ts'

export type { MoneyFormat, UnitDefinition }

/** How much of one unit, as callers write it. */
type GivenAmount = number | MoneyAmount

/** A cost from a caller: a number if the policy has one unit, else amounts by unit. */
export type Cost = GivenAmount | { readonly [unit: string]: GivenAmount | undefined }

/** A cost in a settings document: whole units, money in millionths. */
export type PlainCost = number | { readonly [unit: string]: number | undefined }

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

/** The types of a policy with one unit: costs and amounts are numbers, or money. */
export interface OneUnit<
  Unit extends string = 'requests',
  Names extends PolicyNames = PolicyNames,
  Given extends GivenAmount = number,
> {
  readonly unit: Unit
  readonly cost: Given
  readonly amount: number
  readonly named: { readonly unit?: Unit | undefined }
  readonly held: { readonly tokens: number }
  readonly names: Names
}

/** The types of a policy with several units: costs and amounts are by unit, and values with a unit name it. */
export interface SeveralUnits<
  Unit extends string,
  Names extends PolicyNames = PolicyNames,
  Currency extends string = never,
> {
  readonly unit: Unit
  readonly cost: AmountsByUnit<Unit, Currency>
  readonly amount: { readonly [unit in Unit]: number }
  readonly named: { readonly unit: Unit }
  readonly held: { readonly cost: { readonly [unit in Unit]: number } }
  readonly names: Names
}

/** Amounts of some units. @typeParam Currency those that are money */
type AmountsByUnit<Unit extends string, Currency extends string> = {
  readonly [unit in Unit]?: (unit extends Currency ? MoneyAmount<unit> : number) | undefined
}

/** The cost of a policy with these units. */
export type CostOf<Unit extends string, Currency extends string> =
  IsUnion<Unit | Currency> extends true
    ? AmountsByUnit<Unit | Currency, Currency>
    : [Currency] extends [never]
      ? number | AmountsByUnit<Unit, never>
      : MoneyAmount<Currency>

/** The types of a policy with these units, `UnitsOf<'requests' | 'tokens'>`, and names. */
export type UnitsOf<
  Unit extends string,
  Names extends PolicyNames = PolicyNames,
  Currency extends string = never,
> = string extends Unit
  ? Counting
  : IsUnion<Unit> extends true
    ? SeveralUnits<Unit, Names, Currency>
    : OneUnit<Unit, Names, [Currency] extends [never] ? number : MoneyAmount<Currency>>

/** The list of units in a policy. */
export type Units = readonly (string | UnitDefinition)[]

/** The names of a policy's units, in the order of costs. */
export function unitNames({ units }: { readonly units: Units }): readonly string[] {
  return units.map((unit) => (typeof unit === 'string' ? unit : unit.name))
}

/** Returns a unit by name. */
export function unitNamed(units: Units, name: string): string | UnitDefinition | undefined {
  return units.find((unit) => (typeof unit === 'string' ? unit : unit.name) === name)
}

/** Returns the format of a unit's amounts; `undefined`: plain numbers. */
export function formatOf({ units }: { readonly units: Units }, unit: string): MoneyFormat | undefined {
  const found = unitNamed(units, unit)
  return typeof found === 'object' ? found.format : undefined
}

/** Converts a checked cost to a vector, one number per unit. Units that it leaves out are taken from `missing`. */
export function vectorOf<Missing>(
  units: readonly string[],
  cost: Cost,
  missing: readonly Missing[],
): readonly (number | Missing)[] {
  if (isAmount(cost)) return [numberOf(cost)]
  return units.map((unit, at) => {
    const amount = cost[unit]
    return amount === undefined ? missing[at]! : numberOf(amount)
  })
}

function isAmount(cost: Cost): cost is GivenAmount {
  return typeof cost === 'number' || typeof cost.millionths === 'number'
}

/** Returns whole units, or whole millionths of money. */
function numberOf(amount: GivenAmount): number {
  return typeof amount === 'number' ? amount : amount.millionths
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
    const other = isAmount(cost) ? cost : Object.values(cost)[0]
    return combine(amount, other === undefined ? undefined : numberOf(other))
  }
  const others = isAmount(cost) ? {} : cost
  return Object.fromEntries(
    Object.entries(amount).map(([unit, one]) => {
      const other = others[unit]
      return [unit, combine(one, other === undefined ? undefined : numberOf(other))]
    }),
  )
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
  if (cost === undefined) return ''
  if (isAmount(cost)) return String(numberOf(cost))
  const names = Object.keys(cost).filter((name) => cost[name] !== undefined)
  return names
    .sort()
    .map((name) => `${name}=${numberOf(cost[name] ?? 0)}`)
    .join(',')
}

/** Returns an amount for messages: a number, or `1 requests, 812 tokens`. */
export function amountText(amount: Amount): string {
  if (typeof amount === 'number') return String(amount)
  return Object.entries(amount)
    .map(([unit, each]) => `${each} ${unit}`)
    .join(', ')
}

/**
 * Who makes a request: a string, or a key for each layer that isn't shared. Any text that isn't empty; `null`: the
 * layer's limits don't apply.
 */
export type Subject = string | Readonly<Record<string, string | null>>

/** A policy's names, for its engine's types. The default is any name. */
export interface PolicyNames {
  /** Who makes a request: a string, or an object with a key per layer if several layers aren't shared. */
  readonly subject: Subject
  readonly plan: string
  /** A layer in which each subject has its own windows. */
  readonly ownLayer: string
  readonly sharedLayer: string
  readonly category: string
  /** A limit's name. */
  readonly limit: string
}

/** Whether a type is a union of several. */
type IsUnion<T, Each = T> = T extends T ? ([Each] extends [T] ? false : true) : never

/** Whether a type is one literal name. */
export type IsSingle<T extends string> = string extends T ? false : IsUnion<T> extends true ? false : true

/** The type of a subject, given the layers that aren't shared. */
export type SubjectOf<OwnLayer extends string> = string extends OwnLayer
  ? Subject
  : IsUnion<OwnLayer> extends true
    ? { readonly [layer in OwnLayer]: string | null }
    : string

/** A table with an entry for some of these names. If the names are unknown, any table. */
export type Some<Name extends string, T> = string extends Name
  ? Readonly<Record<Name, T>>
  : { readonly [name in Name]?: T }
