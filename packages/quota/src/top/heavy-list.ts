import { type Hash, Sketch } from './sketch.ts'
import { SLICES } from './slices.ts'

/** Names that are counted one by one; more than are ever told, so that the last of those are right. */
const PLACES = 256

/** A name and what came of it in the period. */
export interface Heavy {
  readonly name: string
  /** What was counted since the name is in the list, and what it probably had before. */
  readonly amount: number
  /** What was counted for certain. */
  readonly atLeast: number
}

/**
 * The names with the largest sums of one kind. What is in the list is counted exactly, slice by slice; the rest is in a
 * sketch, and a name whose count there passes the smallest of the list takes its place (an augmented sketch: Roy, Khan and
 * Alonso, 2016).
 */
export class HeavyList {
  readonly #places = new Map<string, number>()
  readonly #names: (string | undefined)[] = new Array<string | undefined>(PLACES).fill(undefined)
  /** For each place the sum of each slice. */
  readonly #counted = new Float64Array(PLACES * SLICES)
  /** What a name had in the sketch when it came; it goes by steps, as it would if it had been counted evenly. */
  readonly #before = new Float64Array(PLACES)
  readonly #step = new Float64Array(PLACES)
  /** By place: all that is counted and was before. */
  readonly #sums = new Float64Array(PLACES)
  /** No sum of the list is smaller; the smallest may be larger. */
  #floor = 0
  readonly #sketch = new Sketch()
  readonly #hash: (name: string) => Hash

  constructor(hash: (name: string) => Hash) {
    this.#hash = hash
  }

  add(name: string, amount: number, slice: number): void {
    const place = this.#places.get(name)
    if (place === undefined) this.#addOther(name, amount, slice)
    else this.#count(place, amount, slice)
  }

  /** Leaves a slice, which holds the oldest counts, empty for those to come. */
  turn(slice: number): void {
    for (let place = 0; place < PLACES; place++) {
      const at = place * SLICES + slice
      const before = this.#before[place]!
      const left = Math.max(0, before - this.#step[place]!)
      this.#sums[place]! -= this.#counted[at]! + before - left
      this.#counted[at] = 0
      this.#before[place] = left
    }
    this.#sketch.fade(1 - 1 / SLICES)
    this.#floor = 0
  }

  clear(): void {
    this.#places.clear()
    this.#names.fill(undefined)
    this.#sketch.clear()
    this.#floor = 0
  }

  /** The heaviest first; of equal ones the first by name. */
  top(count: number): Heavy[] {
    const all = [...this.#places].map(([name, place]) => ({
      name,
      amount: Math.round(this.#sums[place]!),
      atLeast: Math.round(this.#sums[place]! - this.#before[place]!),
    }))
    const some = all.filter(({ amount }) => amount > 0)
    return some.sort((a, b) => b.amount - a.amount || (a.name < b.name ? -1 : 1)).slice(0, count)
  }

  #addOther(name: string, amount: number, slice: number): void {
    const hash = this.#hash(name)
    const before = this.#sketch.of(hash)
    const sum = before + amount
    const place = sum > this.#floor ? this.#placeBelow(sum) : undefined
    if (place === undefined) {
      this.#sketch.raiseTo(hash, sum)
      return
    }
    this.#take(place, name, before)
    this.#count(place, amount, slice)
  }

  /** A place that is free, or whose name has less than `sum`. */
  #placeBelow(sum: number): number | undefined {
    if (this.#places.size < PLACES) return this.#places.size
    let least = 0
    for (let place = 1; place < PLACES; place++) {
      if (this.#sums[place]! < this.#sums[least]!) least = place
    }
    this.#floor = this.#sums[least]!
    return sum > this.#floor ? least : undefined
  }

  #take(place: number, name: string, before: number): void {
    const last = this.#names[place]
    if (last !== undefined) {
      this.#places.delete(last)
      this.#sketch.raiseTo(this.#hash(last), this.#sums[place]!)
    }
    const own = copyOf(name)
    this.#names[place] = own
    this.#places.set(own, place)
    this.#counted.fill(0, place * SLICES, (place + 1) * SLICES)
    this.#before[place] = before
    this.#step[place] = before / SLICES
    this.#sums[place] = before
  }

  #count(place: number, amount: number, slice: number): void {
    this.#counted[place * SLICES + slice]! += amount
    this.#sums[place]! += amount
  }
}

/** The text without the longer one that it may be a part of, which would stay in memory with it. */
function copyOf(text: string): string {
  return ` ${text}`.slice(1)
}
