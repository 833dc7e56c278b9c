import * as v from 'valibot'
import { plain, shown } from '../errors/shown.ts'
import {
  type Check,
  group,
  isObject,
  isPlain,
  listOf,
  tableEach,
  textLike,
  where,
  wholeNumber,
} from '../options/checks.ts'
import { expectedText, fits, listed, noSuchName } from '../options/faults.ts'
import { SLOTS, TOKENS } from '../windows/identity.ts'
import { layerOf, limitNamed, limitNames } from './cells.ts'
import { isMoney, money, moneyText, readMoney } from './money.ts'
import type { LimitNumber, LimitNumbers, LimitRule, LimitWithBurst, Policy } from './policy.ts'
import type { Threshold } from './settings.ts'
import { type Cost, type PlainCost, type UnitDefinition, type Units, unitNamed, unitNames } from './units.ts'
import { A_NAME, aLimit, hundredths, isLimit, MAX_LIMIT, NAME, wrongName } from './values.ts'

/** How many plans a policy or the settings can have. */
const MAX_PLANS = 100

/** How numbers of limits may be written. */
interface Writing {
  /** Whether money may be whole millionths, as documents have it. */
  readonly asStored: boolean
  /** Whether `null` may follow the default. Default: `false` */
  readonly orNull?: boolean
}

/** Checks numbers of some limits. @param wrong returns the fault of a limit's name */
export function someNumbersCheck(
  policy: Pick<Policy, 'limits' | 'units'>,
  writing: Writing,
  wrong: (rule: LimitRule) => string | undefined = () => undefined,
): Check<Readonly<Record<string, unknown>>> {
  return tableEach((name) => {
    const rule = limitNamed(policy, name)
    if (rule === undefined) return `not a limit: ${noSuchName(name, limitNames(policy), 'the policy has')}`
    return wrong(rule) ?? numberCheck(policy, rule, writing)
  }, 'an object of numbers by limit')
}

/** Checks the number of a limit, as the rule's unit and kind need it. */
export function numberCheck(
  { units }: Pick<Policy, 'units'>,
  rule: LimitRule,
  { asStored, orNull = false }: Writing,
): Check<unknown> {
  const isValid = (value: unknown): boolean =>
    (orNull && value === null) || limitNumber(units, rule, value, asStored) !== undefined
  const what = orNull ? ', or null to follow the default' : ''
  const unit = unitNamed(units, rule.unit)
  const number = isMoney(unit) ? moneyText(unit) : aLimit(rule.unit)
  const bucket = rule.window?.burst === undefined ? '' : ', { limit, burst } with a burst of 1 to the limit'
  return where(isValid, `${number}${bucket}, or "unlimited"${what}`)
}

/**
 * Reads the number of a limit; `undefined` if it is invalid.
 *
 * @param asStored whether money may be whole millionths
 */
export function limitNumber(
  units: Units,
  { unit, window }: Pick<LimitRule, 'unit' | 'window'>,
  value: unknown,
  asStored: boolean,
): LimitNumber | undefined {
  const definition = unitNamed(units, unit)
  if (!isMoney(definition) || (asStored && typeof value === 'number')) {
    if (isLimit(value)) return value
    // Other processes may have a bucket of that name. Here only the limit of the pair is in force.
    return asStored || window?.burst !== undefined ? withBurst(value) : undefined
  }
  if (value === 'unlimited' || value === 0) return value
  const amount = readMoney(value)
  return amount?.unit === unit ? amount.millionths : undefined
}

/** Reads a number with a burst; `undefined` if it is none. */
function withBurst(value: unknown): LimitWithBurst | undefined {
  if (!isPlain(value)) return undefined
  const { limit, burst, ...others } = value
  if (!isLimit(limit) || !isLimit(burst) || burst === 'unlimited' || Object.keys(others).length > 0) return undefined
  return burst >= 1 && (limit === 'unlimited' || burst <= limit) ? { limit, burst } : undefined
}

/** Reads checked numbers of limits. */
export function limitNumbers(policy: Pick<Policy, 'limits' | 'units'>, numbers: object): LimitNumbers {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, value]) => {
      const rule = limitNamed(policy, name)
      return [name, (rule && limitNumber(policy.units, rule, value, true)) ?? (value as LimitNumber)]
    }),
  )
}

/** Checks plans' numbers: any limits of subjects' own. */
export function plansCheck(policy: Pick<Policy, 'limits' | 'layers' | 'units'>, writing: Writing): Check<PlanNumbers> {
  const isShared = (rule: LimitRule): string | undefined =>
    layerOf(policy, rule).shared ? 'shared by all subjects: plans apply only to `by` limits' : undefined
  const plan = someNumbersCheck(policy, writing, isShared)
  const plans = tableEach((name) => wrongName(name, "a plan's name") ?? plan, 'an object of numbers by plan and limit')
  const count = v.rawCheck<PlanNumbers>(({ dataset: { typed, value }, addIssue }) => {
    if (typed && Object.keys(value).length > MAX_PLANS) addIssue({ message: `expected at most ${MAX_PLANS} plans` })
  })
  return v.pipe(plans as Check<PlanNumbers>, count)
}

type PlanNumbers = Readonly<Record<string, LimitNumbers>>

/** A fault of a cost. */
export interface CostFault {
  /** The faulty unit; `undefined`: the whole cost. */
  readonly unit?: string | undefined
  readonly message: string
}

/** The valid amounts of a cost. */
export interface AmountRange {
  /** The smallest number allowed with one unit. With several, at least one amount must reach it. */
  readonly least: 0 | 1
  /** @default 2^53 - 1 */
  readonly most?: number | undefined
  /** Whether money may be whole millionths, as documents have it. */
  readonly asStored?: boolean | undefined
}

/**
 * Returns the fault of a cost, which is a number with one unit, else amounts by unit; `undefined`: it is valid.
 *
 * @param units of the policy
 */
export function wrongCost(units: Units, cost: unknown, range: AmountRange): CostFault | undefined {
  const [only] = units as [string | UnitDefinition]
  const isOne = units.length === 1
  if (isOne && isAmount(only, cost, range)) return undefined
  if (isPlain(cost) && readMoney(cost) === undefined) return wrongRecord(units, cost, range)
  if (isOne) return { message: wrongAmount(only, cost, range) }
  const names = unitNames({ units })
  const example = names.includes(TOKENS) ? TOKENS : names[0]!
  if (typeof cost !== 'number') return { message: expectedText(`amounts by unit, as { ${example}: 812 }`, cost) }
  return { message: `this policy counts ${listed(names)}: write { ${example}: ${cost} }` }
}

function wrongRecord(units: Units, cost: Readonly<Record<string, unknown>>, range: AmountRange): CostFault | undefined {
  const counts = `the policy counts ${listed(unitNames({ units }))}`
  const given = Object.keys(cost).filter((unit) => cost[unit] !== undefined)
  if (given.length === 0) return { message: `expected an amount of some unit, got none; ${counts}` }
  const atLeastNothing = { ...range, least: 0 } as const
  for (const name of given) {
    const unit = unitNamed(units, name)
    if (unit === undefined) return { unit: plain(name), message: `not a unit: ${shown(name)}; ${counts}` }
    if (isAmount(unit, cost[name], atLeastNothing)) continue
    const others = units.length === 1 ? '' : `; ${counts}`
    return { unit: name, message: wrongAmount(unit, cost[name], atLeastNothing) + others }
  }
  const isEnough = range.least === 0 || given.some((unit) => Number(cost[unit]) !== 0)
  return isEnough ? undefined : { message: `expected more than 0 of some unit; ${counts}` }
}

function isAmount(unit: string | UnitDefinition, amount: unknown, range: AmountRange): boolean {
  const { least, most = Number.MAX_SAFE_INTEGER, asStored = false } = range
  const isIn = (count: unknown): boolean =>
    Number.isSafeInteger(count) && (count as number) >= least && (count as number) <= most
  if (!isMoney(unit) || amount === 0 || (asStored && typeof amount === 'number')) return isIn(amount)
  const money = readMoney(amount)
  return money?.unit === unit.name && isIn(money.millionths)
}

function wrongAmount(unit: string | UnitDefinition, amount: unknown, { least, most }: AmountRange): string {
  if (isMoney(unit)) return expectedText(moneyText(unit), amount)
  const range = most === undefined ? `, ${least} or more` : ` from ${least} to ${most}`
  const [name] = unitNames({ units: [unit] })
  return expectedText(`a whole number of ${name}${range}`, amount)
}

/** Checks a cost in a document. */
export function costCheck(units: Units, range: AmountRange): Check<Cost> {
  const isRight = v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
    const fault = wrongCost(units, value, range)
    if (fault === undefined) return
    const { unit, message } = fault
    const record = value as Record<string, unknown>
    const path = { type: 'object', origin: 'value', input: record, key: unit, value: record?.[unit ?? ''] } as const
    addIssue(unit === undefined ? { message } : { message, path: [path as v.ObjectPathItem] })
  })
  return v.pipe(v.unknown(), isRight) as Check<Cost>
}

/** Reads a checked cost: money as whole millionths. */
export function plainCost(cost: unknown): PlainCost {
  const read = (amount: unknown): number => readMoney(amount)?.millionths ?? (amount as number)
  if (typeof cost === 'number' || readMoney(cost) !== undefined) return read(cost)
  const given = Object.entries(cost as object).filter(([, amount]) => amount !== undefined)
  return Object.fromEntries(given.map(([unit, amount]) => [unit, read(amount)]))
}

/** Checks the name of a unit, or a currency. */
export function unitCheck(): Check<unknown> {
  return where<unknown>(
    (unit) => isMoney(currencyOf(unit)) || isUnitName(unit),
    `a unit's name of ${A_NAME}, other than "${SLOTS}", or money("USD")`,
  )
}

/** Returns a currency as a unit: of `money("USD")`, or of its JSON `{ "money": "USD" }`. */
export function currencyOf(unit: unknown): UnitDefinition | undefined {
  if (isPlain(unit)) {
    const { money: currency, ...others } = unit
    const isCurrency = typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) && Object.keys(others).length === 0
    return isCurrency ? currencyOf(money(currency)) : undefined
  }
  const { name, format } = Object(unit) as Partial<UnitDefinition>
  return name === undefined || format === undefined ? undefined : { name, format }
}

/** Rejects names of inherited properties, because amounts by unit are plain objects. */
function isUnitName(name: unknown): boolean {
  return typeof name === 'string' && NAME.test(name) && name !== SLOTS && !(name in {})
}

/** How many thresholds there can be. */
const MAX_THRESHOLDS = 8

/** The default thresholds. */
export const DEFAULT_THRESHOLDS: readonly Threshold[] = [{ share: 0.8 }]

/**
 * Checks a list of thresholds, in options and in settings.
 *
 * @param units of the policy; `undefined`: unknown yet, so any name is valid
 */
export function thresholdsCheck(units?: readonly string[]): Check<readonly Threshold[]> {
  return listOf(thresholdCheck(units), 0, MAX_THRESHOLDS)
}

/** Whether a stored value is a list of thresholds. */
export function areThresholds(value: unknown, units: readonly string[]): value is readonly Threshold[] {
  return fits(thresholdsCheck(units), value)
}

function thresholdCheck(units: readonly string[] | undefined): Check<Threshold> {
  const ofShare = { share: where<number>(isShare, 'a share above 0 and up to 1 with at most two decimals') }
  const named = units === undefined ? textLike(NAME, 'the name of a unit') : unitNameCheck([...units, SLOTS])
  const share = group(ofShare) as Check<Threshold>
  const shareOfUnit = group<Threshold>({ ...ofShare, unit: named })
  const left = group({ left: wholeNumber(0, MAX_LIMIT, units?.[0] ?? TOKENS) }) as Check<Threshold>
  const leftOfUnit = group<Threshold>({ left: wholeNumber(0, MAX_LIMIT), unit: named })
  return v.lazy<Check<Threshold>>((value) => {
    const has = (member: string): boolean => isObject(value) && Object.hasOwn(value, member)
    const isOfUnit = has('unit') || (units !== undefined && units.length > 1)
    if (has('left')) return isOfUnit ? leftOfUnit : left
    return has('unit') ? shareOfUnit : share
  })
}

function unitNameCheck(units: readonly string[]): Check<string> {
  return where<string>((unit) => units.includes(unit as string), `a unit: ${listed(units)}`)
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value <= 1 && hundredths(value) !== undefined
}
