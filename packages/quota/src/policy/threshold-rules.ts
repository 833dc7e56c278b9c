import * as v from 'valibot'
import { type Check, group, isObject, listOf, textLike, where, wholeNumber } from '../options/checks.ts'
import { fits } from '../options/faults.ts'
import { listed } from '../options/names.ts'
import { SLOTS, TOKENS } from '../windows/units.ts'
import { NAME } from './names.ts'
import type { Threshold } from './settings.ts'
import { hundredths, MAX_LIMIT } from './values.ts'

/** Most thresholds at a time. */
const MAX_THRESHOLDS = 8

/** When limits are near, where nobody says otherwise. */
export const DEFAULT_THRESHOLDS: readonly Threshold[] = [{ share: 0.8 }]

/**
 * Checks a list of thresholds, with the same texts in options and in settings.
 *
 * @param units of the policy; `undefined`: nobody knows yet, so that any name may be one
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
