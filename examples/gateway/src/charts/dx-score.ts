/** Least share of the maximum, in percent, of 0 to 5 stars. */
const STAR_PERCENT = [0, 85, 90, 93, 95, 97] as const

export const MAX_STARS = 5

/** The best DX score of a chart; `null` where its notes are not known. */
export function dxScoreMax(notes: number | null): number | null {
  return notes === null ? null : 3 * notes
}

/** Stars of a DX score, 0 to 5, in integers; `null` where the maximum is not known. */
export function dxStar(dxScore: number, max: number | null): number | null {
  if (max === null || max === 0) return null
  return STAR_PERCENT.filter((percent) => dxScore * 100 >= max * percent).length - 1
}

/** The least DX score with so many stars: what a star count stands for in fuzzy mode. */
export function leastDxScore(stars: number, max: number): number {
  return Math.ceil((max * STAR_PERCENT[stars as 0]) / 100)
}
