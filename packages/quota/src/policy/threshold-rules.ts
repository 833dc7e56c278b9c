import * as v from 'valibot'
import { type Check, group, listOf, where, wholeNumber } from '../options/checks.ts'
import { isObject } from '../options/objects.ts'
import type { Threshold } from './settings.ts'
import { hundredths, MAX_LIMIT } from './values.ts'

/** Most thresholds at a time. */
const MAX_THRESHOLDS = 8

/** When limits are near, where nobody says otherwise. */
export const DEFAULT_THRESHOLDS: readonly Threshold[] = [{ share: 0.8 }]

/** Checks a list of thresholds, with the same texts in options and in settings. */
export function thresholdsCheck(): Check<readonly Threshold[]> {
  return listOf(thresholdCheck(), 0, MAX_THRESHOLDS)
}

/** Whether a stored value is a list of thresholds. */
export function areThresholds(value: unknown): value is readonly Threshold[] {
  return v.safeParse(thresholdsCheck(), value).success
}

function thresholdCheck(): Check<Threshold> {
  const share = group({ share: where<number>(isShare, 'a share above 0 and up to 1 with at most two decimals') })
  const left = group({ left: wholeNumber(0, MAX_LIMIT, 'tokens') })
  return v.lazy<Check<Threshold>>((value) => (isObject(value) && Object.hasOwn(value, 'left') ? left : share))
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value <= 1 && hundredths(value) !== undefined
}
