/** The chart's ranges, by their names in the address. Each has steps wide enough to tell apart. */
export const RANGES = {
  '24h': { days: 1, bucketMinutes: 10 },
  '7d': { days: 7, bucketMinutes: 30 },
} as const

export type RangeName = keyof typeof RANGES
export const RANGE_NAMES = Object.keys(RANGES) as RangeName[]

/** @param name from the address; the week if it names no range */
export function rangeNamed(name: string | undefined): RangeName {
  return RANGE_NAMES.find((each) => each === name) ?? '7d'
}
