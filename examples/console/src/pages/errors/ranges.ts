/** Spans of time that the chart shows, by their names in the address, each in steps wide enough to distinguish. */
export const RANGES = {
  '24h': { days: 1, bucketMinutes: 10 },
  '7d': { days: 7, bucketMinutes: 30 },
} as const

export type RangeName = keyof typeof RANGES
export const RANGE_NAMES = Object.keys(RANGES) as RangeName[]

/** @param name of the address; the week, where it names none */
export function rangeNamed(name: string | undefined): RangeName {
  return RANGE_NAMES.find((each) => each === name) ?? '7d'
}
