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
  textLike,
  where,
  wholeNumber,
} from '../options/checks.ts'
import { expectedText, faultsOf, within } from '../options/faults.ts'
import { listed, noSuchName } from '../options/names.ts'
import { SLOTS, TOKENS } from '../windows/units.ts'
import { A_NAME, NAME } from './names.ts'
import type { PolicyWindow } from './policy.ts'
import { type Cost, type MoneyFormat, type UnitDefinition, unitNames } from './units.ts'

/** A fault of a cost. */
export interface CostFault {
  /** The member that it is about; `undefined`: the whole. */
  readonly unit?: string | undefined
  readonly message: string
}

/** What the amounts of a cost have to be. */
export interface AmountRange {
  /** The least that a number may be, where a policy counts one unit; some amount of a record has to be as much. */
  readonly least: 0 | 1
  /** @default 2^53 - 1 */
  readonly most?: number | undefined
}

/**
 * The fault of a cost, a number where a policy counts one unit and else amounts by unit; `undefined`: none.
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

/** Most digits of money below one of its currency: with more, no amount of any use is a safe integer. */
const MAX_SCALE = 12

/** Checks the list of what a policy counts. */
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

/** None that every object has a member of: amounts by unit are plain objects. */
function isUnitName(name: unknown): boolean {
  return typeof name === 'string' && NAME.test(name) && name !== SLOTS && !(name in {})
}

function isCurrency(currency: unknown): boolean {
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency)
}

/** The units of a value that may be no policy, and the faults of their list. */
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
      if (isTwice) return [{ path: `units.${at}`, message: `"${unit}" is there twice` }]
      const isCounted = !isSaid || windows.some((window) => window.unit === unit)
      return isCounted ? [] : [{ path: `units.${at}`, message: `no window counts ${unit}: give one unit: "${unit}"` }]
    }),
    ...windows.flatMap(({ unit }, at): Fault[] => {
      const path = `windows.${at}.unit`
      if (unit === undefined) return isSeveral ? [{ path, message: `missing: one of ${listed(units)}` }] : []
      return units.includes(unit)
        ? []
        : [{ path, message: `not a unit: ${noSuchName(unit, units, 'the policy counts')}` }]
    }),
  ]
}

/** Checks the unit that a window says it counts; which there are, {@link unitFaults} knows. */
export function windowUnitCheck(): Check<string | undefined> {
  return optional(textLike(NAME, 'the name of a unit'))
}
