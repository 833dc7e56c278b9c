/**
 * Returns how many tokens refill in a time: `floor(ageMs x rate / perMs)`, exactly.
 *
 * @param rate tokens per `perMs`
 */
export function cameBack(ageMs: number, rate: number, perMs: number): number {
  if (ageMs <= 0) return 0
  const product = ageMs * rate
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / perMs)
  return Number((BigInt(ageMs) * BigInt(rate)) / BigInt(perMs))
}

/**
 * Returns after how many milliseconds this many tokens, at least 1, have refilled. At most twice `perMs`, because the
 * rest is dropped then.
 */
export function timeFor(tokens: number, rate: number, perMs: number): number {
  if (tokens >= 2 * rate) return 2 * perMs
  const product = tokens * perMs
  if (product <= Number.MAX_SAFE_INTEGER) return Math.ceil(product / rate)
  return Number((BigInt(tokens) * BigInt(perMs) + BigInt(rate) - 1n) / BigInt(rate))
}
