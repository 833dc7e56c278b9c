import type { Hash } from './sketch.ts'

/**
 * Hashes names by a seed that nobody outside knows, so that nobody can choose names that share the places of another.
 * MurmurHash3's mixing, two lanes of it.
 */
export class NameHash {
  readonly #seeds: Uint32Array

  /** @param seeds two numbers of 32 bits */
  constructor(seeds: Uint32Array = crypto.getRandomValues(new Uint32Array(2))) {
    this.#seeds = seeds
  }

  of(name: string): Hash {
    let first = this.#seeds[0]!
    let second = this.#seeds[1]!
    for (let at = 0; at < name.length; at++) {
      const unit = name.charCodeAt(at)
      first = Math.imul(first ^ unit, 0x85eb_ca6b)
      first ^= first >>> 13
      second = Math.imul(second ^ unit, 0xc2b2_ae35)
      second ^= second >>> 16
    }
    // Odd, so that the rows differ.
    return { first: finish(first), second: finish(second) | 1 }
  }
}

function finish(lane: number): number {
  const mixed = Math.imul(lane ^ (lane >>> 16), 0x85eb_ca6b)
  return mixed ^ (mixed >>> 13)
}
