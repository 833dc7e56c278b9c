/** One percent of achievement, as scores hold it. */
const PERCENT = 10_000
/** The best achievement there is: 101 %. */
export const MAX_ACHIEVEMENT = 1_010_000

/** A percentage as percent x 10000. Rounded, since `100.57 * 10000` in binary is `1005699.9999999999`. */
export function achievementOfPercent(percent: number): number {
  return Math.round(percent * PERCENT)
}

/**
 * An achievement as percent x 10000, from a percentage (at most 101), that integer itself (above 10000), or either of
 * them as text.
 *
 * @returns `undefined` for anything else
 */
export function parseAchievement(value: unknown): number | undefined {
  if (typeof value === 'string') return /^\d{1,7}(?:\.\d{1,8})?$/.test(value) ? fromNumber(Number(value)) : undefined
  return typeof value === 'number' ? fromNumber(value) : undefined
}

function fromNumber(value: number): number | undefined {
  if (value >= 0 && value <= 101) return achievementOfPercent(value)
  return Number.isInteger(value) && value > PERCENT && value <= MAX_ACHIEVEMENT ? value : undefined
}

/** Least achievement, in percent x 10000, of each rank above the lowest: c b bb bbb a aa aaa s sp ss ssp sss sssp. */
const RANKS = [50, 60, 70, 75, 80, 90, 94, 97, 98, 99, 99.5, 100, 100.5].map((percent) => percent * PERCENT)

/** The rank of an achievement, 0 (d) to 13 (sssp). */
export function scoreRank(achievement: number): number {
  return RANKS.filter((least) => achievement >= least).length
}
