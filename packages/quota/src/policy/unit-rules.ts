import * as v from 'valibot'
import type { Fault } from '../errors/quota-error.ts'
import { type Check, group, listOf, optional, textLike, where, wholeNumber } from '../options/checks.ts'
import { faultsOf, within } from '../options/faults.ts'
import { listed, noSuchName } from '../options/names.ts'
import { isObject } from '../options/objects.ts'
import { SLOTS } from '../windows/units.ts'
import { A_NAME, NAME } from './names.ts'
import type { PolicyWindow } from './policy.ts'
import { type MoneyFormat, type UnitDefinition, unitNames } from './units.ts'

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
