import { type MoneyAmount, money, type Policy } from '@scoregw/quota'
import { counted } from './text.ts'

/** A unit of a policy: a name, or one with a format, such as money. */
export type Unit = Policy['units'][number]

export function unitName(unit: Unit): string {
  return typeof unit === 'string' ? unit : unit.name
}

/** Returns a policy's unit by name; the name for `slots`, which no policy lists. */
export function unitOf({ units }: Pick<Policy, 'units'>, name: string): Unit {
  return units.find((unit) => unitName(unit) === name) ?? name
}

/** An amount for people: a whole number, or money in its currency. */
export function amountText(unit: Unit, amount: number): string {
  if (typeof unit === 'string' || unit.format === undefined) return counted(amount)
  const { currency, scale } = unit.format
  return `${(amount / 10 ** scale).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: scale })} ${currency}`
}

/** Converts a count for a request: money as an amount of its currency. */
export function given(unit: Unit, count: number): number | MoneyAmount {
  return typeof unit === 'string' || unit.format === undefined ? count : money(unit.format.currency).millionths(count)
}
