import { type MoneyAmount, money, type Policy } from '@scoregw/quota'
import { type GivenLimit, type LimitNumber, type LimitRule, unitNames } from '@scoregw/quota/internal'
import type { ModelAmount, ModelCost } from '@scoregw/quota-testkit/model'

/** A cost as callers write it. */
type GivenCost = number | MoneyAmount | { readonly [unit: string]: number | MoneyAmount }

/** The cost that a step means: a number, or with several units so much of one of them. */
export function amountIn(policy: Policy, count: number): ModelCost {
  const units = unitNames(policy)
  return units.length === 1 ? count : { [units[count % units.length] ?? '']: count }
}

/** The same of every unit. */
export function everyUnit(policy: Policy, count: number): ModelAmount {
  const units = unitNames(policy)
  return units.length === 1 ? count : Object.fromEntries(units.map((unit) => [unit, count]))
}

/** A cost for the engine, with money as such. */
export function costIn(policy: Policy, cost: ModelCost): GivenCost {
  const [only = ''] = unitNames(policy)
  if (typeof cost === 'number') return inUnit(policy, only, cost)
  const given = Object.entries(cost).map(([unit, amount = 0]) => [unit, inUnit(policy, unit, amount)])
  return Object.fromEntries(given) as GivenCost
}

/** A part of an amount. Rounds down. */
export function shareOf(amount: ModelAmount, percent: number): ModelAmount {
  const part = (each: number): number => Math.floor((each * percent) / 100)
  if (typeof amount === 'number') return part(amount)
  return Object.fromEntries(Object.entries(amount).map(([unit, each]) => [unit, part(each)]))
}

/** The number that a step means for a limit. Every second one of buckets has its own burst. */
export function numberFor({ window }: LimitRule, number: number | 'unlimited'): LimitNumber {
  const isOwn = window?.burst !== undefined && number !== 'unlimited' && number > 0 && number % 2 === 0
  return isOwn ? { limit: number, burst: Math.ceil(number / 3) } : number
}

/** A number of a request for the engine, with money as such. */
export function givenLimit(policy: Policy, { unit }: LimitRule, number: LimitNumber): GivenLimit {
  return typeof number === 'number' ? inUnit(policy, unit, number) : number
}

function inUnit({ units }: Policy, name: string, amount: number): number | MoneyAmount {
  const unit = units.find((each) => typeof each === 'object' && each.name === name)
  return typeof unit === 'object' && unit.format !== undefined ? money(unit.format.currency).millionths(amount) : amount
}
