import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { plain, shown } from '../errors/shown.ts'
import {
  type Check,
  group,
  isObject,
  isPlain,
  listOf,
  optional,
  tableEach,
  textLike,
  where,
  wholeNumber,
} from '../options/checks.ts'
import { expectedText, faultsOf, fits, listed, noSuchName, within } from '../options/faults.ts'
import { SLOTS, TOKENS } from '../windows/units.ts'
import { hasLimit, limitLabels, unitOfLabel } from './cells.ts'
import type { LimitTable, PlanTable, Policy, PolicyWindow } from './policy.ts'
import type { Threshold } from './settings.ts'
import { type Cost, type MoneyFormat, type UnitDefinition, unitNames } from './units.ts'
import { A_NAME, eachKey, hundredths, limitCheck, MAX_LIMIT, NAME, wrongPlan } from './values.ts'

/** How many plans a policy or the settings can have. */
const MAX_PLANS = 100

type Limited = Pick<Policy, 'units' | 'windows' | 'concurrency' | 'categories' | 'layers' | 'base'>

/** Checks a whole table of limits: one for each limit in the policy's base. */
export function tableCheck(policy: Limited): Check<LimitTable> {
  const layers = policy.layers.map(({ name }) => name)
  return eachKey(layers, (layer) =>
    eachKey(policy.categories, (category) =>
      eachKey(
        limitLabels(policy).filter((label) => hasLimit(policy, layer, category, label)),
        (label) => limitCheck(unitOfLabel(policy, label)),
      ),
    ),
  )
}

/** Checks plans' limits: any limits of layers that aren't shared. */
export function plansCheck(policy: Limited): Check<Readonly<Record<string, PlanTable>>> {
  const plan = tableEach(
    (layer) =>
      wrongLayer(policy, layer) ??
      tableEach(
        (category) =>
          wrongCategory(policy, category) ??
          tableEach(
            (label) => wrongLabel(policy, layer, category, label) ?? limitCheck(unitOfLabel(policy, label)),
            'an object of limits by label',
          ),
        'an object of limits by category and label',
      ),
    'an object of limits by layer, category and label',
  )
  const plans = tableEach((name) => wrongPlan(name) ?? plan, 'an object of limits by plan, layer, category and label')
  const count = v.rawCheck<Readonly<Record<string, PlanTable>>>(({ dataset: { typed, value }, addIssue }) => {
    if (typed && Object.keys(value).length > MAX_PLANS) addIssue({ message: `expected at most ${MAX_PLANS} plans` })
  })
  return v.pipe(plans, count)
}

function wrongLayer({ layers }: Limited, name: string): string | undefined {
  const own = layers.filter(({ shared }) => !shared).map((layer) => layer.name)
  if (own.includes(name)) return undefined
  return layers.some((layer) => layer.name === name)
    ? `a shared layer: plans are for layers of each subject's own: ${listed(own)}`
    : `not a layer: ${noSuchName(name, own, 'plans are for')}`
}

function wrongCategory({ categories }: Limited, name: string): string | undefined {
  return categories.includes(name) ? undefined : `not a category: ${noSuchName(name, categories, 'the policy has')}`
}

function wrongLabel(policy: Limited, layer: string, category: string, label: string): string | undefined {
  if (hasLimit(policy, layer, category, label)) return undefined
  const labels = limitLabels(policy).filter((each) => hasLimit(policy, layer, category, each))
  return limitLabels(policy).includes(label)
    ? `the base has no such limit for ${layer} and ${category}`
    : `not a limit: ${noSuchName(label, labels, 'there are')}`
}

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
}

/**
 * Returns the fault of a cost, which is a number with one unit, else amounts by unit; `undefined`: it is valid.
 *
 * @param units of the policy
 */
export function wrongCost(units: readonly string[], cost: unknown, range: AmountRange): CostFault | undefined {
  const [only] = units as [string]
  if (isPlain(cost)) return wrongRecord(units, cost, range)
  if (units.length === 1) return isAmount(cost, range) ? undefined : { message: wrongAmount(only, cost, range) }
  const example = units.includes(TOKENS) ? TOKENS : only
  if (typeof cost !== 'number') return { message: expectedText(`amounts by unit, as { ${example}: 812 }`, cost) }
  return { message: `this policy counts ${listed(units)}: write { ${example}: ${cost} }` }
}

function wrongRecord(
  units: readonly string[],
  cost: Readonly<Record<string, unknown>>,
  range: AmountRange,
): CostFault | undefined {
  const counts = `the policy counts ${listed(units)}`
  const given = Object.keys(cost).filter((unit) => cost[unit] !== undefined)
  if (given.length === 0) return { message: `expected an amount of some unit, got none; ${counts}` }
  const atLeastNothing = { ...range, least: 0 } as const
  for (const unit of given) {
    if (!units.includes(unit)) return { unit: plain(unit), message: `not a unit: ${shown(unit)}; ${counts}` }
    if (isAmount(cost[unit], atLeastNothing)) continue
    const others = units.length === 1 ? '' : `; ${counts}`
    return { unit, message: wrongAmount(unit, cost[unit], atLeastNothing) + others }
  }
  const isEnough = range.least === 0 || given.some((unit) => cost[unit] !== 0)
  return isEnough ? undefined : { message: `expected more than 0 of some unit; ${counts}` }
}

function isAmount(amount: unknown, { least, most = Number.MAX_SAFE_INTEGER }: AmountRange): amount is number {
  return Number.isSafeInteger(amount) && (amount as number) >= least && (amount as number) <= most
}

function wrongAmount(unit: string, amount: unknown, { least, most }: AmountRange): string {
  const range = most === undefined ? `, ${least} or more` : ` from ${least} to ${most}`
  return expectedText(`a whole number of ${unit}${range}`, amount)
}

/** Checks a cost in a document. */
export function costCheck(units: readonly string[], range: AmountRange): Check<Cost> {
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

/** The most decimal digits of a currency. With more, useful amounts aren't safe integers. */
const MAX_SCALE = 12

/** Checks a policy's list of units. */
export function unitsCheck(): Check<readonly (string | UnitDefinition)[]> {
  const name = where<string>(isUnitName, `a unit's name of ${A_NAME}, other than "${SLOTS}"`)
  const format = group<MoneyFormat>({
    currency: where<string>(isCurrency, 'a currency by its three letters, "USD" for example'),
    scale: wholeNumber(0, MAX_SCALE, 'decimal digits'),
  })
  const definition = group<UnitDefinition>({ name, format: optional(format) })
  return listOf(
    v.lazy<Check<string | UnitDefinition>>((value) => (isObject(value) ? definition : name)),
    1,
    8,
  )
}

/** Rejects names of inherited properties, because amounts by unit are plain objects. */
function isUnitName(name: unknown): boolean {
  return typeof name === 'string' && NAME.test(name) && name !== SLOTS && !(name in {})
}

function isCurrency(currency: unknown): boolean {
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency)
}

/** Returns the units of a value that may not be a policy, and the faults in their list. */
export function unitsIn(policy: unknown): { readonly units: readonly string[]; readonly faults: readonly Fault[] } {
  const { units } = Object(policy) as { readonly units?: never }
  const faults = within('units', faultsOf(optional(unitsCheck()), units))
  return { units: faults.length === 0 ? unitNames({ units }) : [], faults }
}

/** Faults between units and the windows that count them. */
export function unitFaults(units: readonly string[], windows: readonly PolicyWindow[]): Fault[] {
  const isSeveral = units.length > 1
  const isSaid = windows.every(({ unit }) => unit !== undefined && units.includes(unit))
  return [
    ...units.flatMap((unit, at): Fault[] => {
      const isTwice = units.indexOf(unit) !== at
      if (isTwice) return [{ path: `units.${at}`, message: `"${unit}" appears twice` }]
      const isCounted = !isSaid || windows.some((window) => window.unit === unit)
      return isCounted ? [] : [{ path: `units.${at}`, message: `no window counts ${unit}: give one unit: "${unit}"` }]
    }),
    ...windows.flatMap(({ unit }, at): Fault[] => {
      const path = `windows.${at}.unit`
      if (unit === undefined) return isSeveral ? [{ path, message: `missing; expected one of ${listed(units)}` }] : []
      return units.includes(unit)
        ? []
        : [{ path, message: `not a unit: ${noSuchName(unit, units, 'the policy counts')}` }]
    }),
  ]
}

/** Checks a window's unit. {@link unitFaults} checks that it exists. */
export function windowUnitCheck(): Check<string | undefined> {
  return optional(textLike(NAME, 'the name of a unit'))
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
  const named = units === undefined ? textLike(NAME, 'the name of a unit') : unitCheck([...units, SLOTS])
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

function unitCheck(units: readonly string[]): Check<string> {
  return where<string>((unit) => units.includes(unit as string), `a unit: ${listed(units)}`)
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value <= 1 && hundredths(value) !== undefined
}
