/** From which achievement on, in percent, a chart's difficulty counts how much. */
const FACTORS = [
  [100.5, 22.4],
  [100, 21.6],
  [99.5, 21.1],
  [99, 20.8],
  [98, 20.3],
  [97, 20],
  [94, 16.8],
  [90, 15.2],
  [80, 13.6],
  [75, 12],
  [70, 11.2],
  [60, 9.6],
  [50, 8],
  [0, 7],
] as const

/** The same in whole numbers: percent x 10000, and tenths. */
const STEPS = FACTORS.map(([percent, factor]) => [percent * 10_000, Math.round(factor * 10)] as const)

/** Above it an achievement adds nothing, in percent x 10000. */
const MOST_COUNTED = 1_005_000

/**
 * What a play adds to a rating, as Diving-Fish works it out (`ra`). In whole numbers: binary fractions would now and then
 * be one too low.
 *
 * @param constant the chart's exact difficulty, such as 13.7
 * @param achievement percent x 10000
 */
export function chartRating(constant: number, achievement: number): number {
  const factor = STEPS.find(([least]) => achievement >= least)?.[1] ?? 0
  const tenths = Math.round(constant * 10)
  return Math.floor((tenths * Math.min(achievement, MOST_COUNTED) * factor) / 100_000_000)
}
