import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'
import { isObject } from '../options/checks.ts'

/** Money is counted in integers, in a fraction of a currency. */
export interface MoneyFormat {
  /** ISO 4217, for example `USD`. */
  readonly currency: string
  /** How many decimal digits of the currency one unit stands for: 6 for micro-dollars. */
  readonly scale: number
}

/** A unit with a format. */
export interface UnitDefinition<Unit extends string = string> {
  /** Name in limits, costs and identities of counters; `slots` is reserved. */
  readonly name: Unit
  /** For money: how to display amounts. */
  readonly format?: MoneyFormat | undefined
}

/** An amount of money in whole millionths of its currency. `JSON.stringify` writes `{ "USD": "0.009" }`. */
export interface MoneyAmount<Unit extends string = string> {
  /** The unit that it counts, `usd`. */
  readonly unit: Unit
  readonly millionths: number
  toJSON(): Readonly<Record<string, string>>
  /** The millionths, so that `usd(1) < usd(2)`. */
  valueOf(): number
}

/** A currency as a unit. Call it with an amount of the currency. */
export interface Money<Unit extends string = string> {
  /**
   * Makes an amount. Rounds to the nearest millionth, so that `usd(0.1 + 0.2)` equals `usd(0.3)`.
   *
   * @throws {QuotaError} `invalid_cost` if it isn't a number from 0 to a thousand million
   */
  (amount: number): MoneyAmount<Unit>
  /** The unit's name: `usd` for `money('USD')`. */
  readonly name: Unit
  readonly format: MoneyFormat
  /** Makes an amount of whole millionths, as decisions and statuses report them. */
  millionths(count: number): MoneyAmount<Unit>
}

const DIGITS = 6
const MILLION = 10 ** DIGITS
/** The most millionths of an amount. */
const MAX_MILLIONTHS = 10 ** 15

class MoneyInMillionths implements MoneyAmount {
  readonly unit: string
  readonly millionths: number

  constructor(unit: string, millionths: number) {
    this.unit = unit
    this.millionths = millionths
    Object.freeze(this)
  }

  toJSON(): Readonly<Record<string, string>> {
    return { [this.unit.toUpperCase()]: decimalText(this.millionths) }
  }

  valueOf(): number {
    return this.millionths
  }
}

/**
 * Returns a currency as a unit. Amounts are whole millionths, so sums are exact.
 *
 * @param currency ISO 4217
 * @throws {QuotaError} `invalid_options` if it isn't three capital letters
 * @example
 * const usd = money('USD')
 * definePolicy({
 *   limits: { budget: { by: 'user', limit: usd(20), of: usd, per: '30d' } },
 *   operations: { chat: { cost: { usd: usd(0.009) } } },
 * })
 */
export function money<const Currency extends string>(currency: Currency): Money<Lowercase<Currency>> {
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    throw new QuotaError('invalid_options', `money(): expected a currency like "USD", got ${shown(currency)}`)
  }
  const name = currency.toLowerCase()
  const millionths = (count: number): MoneyAmount => {
    if (isMillionths(count)) return new MoneyInMillionths(name, count)
    throw new QuotaError('invalid_cost', `expected whole millionths of ${currency}, got ${shown(count)}`)
  }
  const convert = (amount: number): MoneyAmount => {
    const count = typeof amount === 'number' ? Math.round(amount * MILLION) : Number.NaN
    if (isMillionths(count)) return new MoneyInMillionths(name, count)
    throw new QuotaError('invalid_cost', `expected an amount of ${currency}, 0 to 10^9, got ${shown(amount)}`)
  }
  Object.defineProperty(convert, 'name', { value: name })
  return Object.assign(convert, { format: { currency, scale: DIGITS }, millionths }) as never
}

function isMillionths(count: unknown): count is number {
  return Number.isSafeInteger(count) && (count as number) >= 0 && (count as number) <= MAX_MILLIONTHS
}

/** Whether a unit's amounts are money, as {@link money} makes them. Other units with a format are plain numbers. */
export function isMoney(unit: string | UnitDefinition | undefined): unit is UnitDefinition {
  return typeof unit === 'object' && unit.format?.scale === DIGITS && unit.format.currency.toLowerCase() === unit.name
}

/** Reads an amount of money, or its JSON `{ "USD": "0.009" }`; `undefined` for anything else. */
export function readMoney(value: unknown): { readonly unit: string; readonly millionths: number } | undefined {
  if (!isObject(value)) return undefined
  const { unit, millionths } = value
  if (typeof unit === 'string' && isMillionths(millionths)) return { unit, millionths }
  const [[currency, text] = [], ...others] = Object.entries(value)
  if (currency === undefined || !/^[A-Z]{3}$/.test(currency) || typeof text !== 'string' || others.length > 0)
    return undefined
  const [, whole, digits = ''] = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  const count = Number(whole) * MILLION + Number(digits.padEnd(DIGITS, '0'))
  return isMillionths(count) ? { unit: currency.toLowerCase(), millionths: count } : undefined
}

/** Describes how to write money of a unit, for messages. */
export function moneyText({ name, format }: UnitDefinition): string {
  return `an amount of money, such as ${name}(1) of money("${format?.currency}")`
}

function decimalText(millionths: number): string {
  const digits = String(millionths % MILLION).padStart(DIGITS, '0')
  const cents = digits.replace(/0{1,4}$/, '')
  return `${Math.floor(millionths / MILLION)}.${cents}`
}
