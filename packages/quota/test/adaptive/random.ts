/** Numbers from 0 up to 1 that a seed decides (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Of the normal distribution with mean 0 and deviation 1 (Box and Muller). */
export function gauss(random: () => number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()))
  return radius * Math.cos(2 * Math.PI * random())
}

function normal(random: () => number, mean: number, variance: number): number {
  return Math.round(mean + Math.sqrt(variance) * gauss(random))
}

/** How many calls come in a minute of so many on average. */
export function poisson(random: () => number, mean: number): number {
  if (mean > 30) return Math.max(0, normal(random, mean, mean))
  const limit = Math.exp(-mean)
  let count = 0
  for (let product = random(); product > limit; product *= random()) count++
  return count
}

/** How many of `trials` happen, each with the same probability: by inversion, by the normal law where that is close. */
export function binomial(random: () => number, trials: number, probability: number): number {
  if (trials === 0 || probability <= 0) return 0
  if (probability > 0.5) return trials - binomial(random, trials, 1 - probability)
  const mean = trials * probability
  if (mean > 30) return Math.min(trials, Math.max(0, normal(random, mean, mean * (1 - probability))))
  const odds = probability / (1 - probability)
  let chance = (1 - probability) ** trials
  let left = random()
  for (let count = 0; count < trials; count++) {
    if (left < chance) return count
    left -= chance
    chance *= (odds * (trials - count)) / (count + 1)
  }
  return trials
}
