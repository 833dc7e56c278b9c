/** A range in which a rate lies, both ends fractions 0..1. */
export interface RateBounds {
  readonly low: number
  readonly high: number
}

/**
 * Wilson's score interval of a rate of which `events` of `trials` were seen; `z` standard deviations wide on each side
 * (1.96: 95 %). Of no trials nothing is known: 0 to 1.
 *
 * E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).
 */
export function wilsonBounds(events: number, trials: number, z: number): RateBounds {
  if (trials === 0) return { low: 0, high: 1 }
  const rate = events / trials
  const z2 = z * z
  const scale = 1 + z2 / trials
  const middle = rate + z2 / (2 * trials)
  const spread = z * Math.sqrt((rate * (1 - rate) + z2 / (4 * trials)) / trials)
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) }
}
