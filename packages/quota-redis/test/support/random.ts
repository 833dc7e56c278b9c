/** Numbers from 0 to 1, below 1, that follow from a seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Choices that follow from a seed. */
export interface Random {
  /** A whole number from one to the other, both included. */
  int(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

export function randomFrom(seed: number): Random {
  const next = randomOf(seed)
  const int = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1))
  return { int: int, chance: (probability) => next() < probability, pick: (list) => list[int(0, list.length - 1)]! }
}
