/**
 * How many names are counted individually. More than are ever reported, so that the last ones reported are accurate.
 */
const PLACES = 256

/** A name, and its sum in the period. */
export interface Heavy {
  readonly name: string
  /** The count since the name joined the list, plus an estimate from before. */
  readonly amount: number
  /** The certain part of the count. */
  readonly atLeast: number
}

/**
 * The names with the largest sums of one kind. Names in the list are counted exactly, by slice. The others are in a
 * sketch. If a name's count there passes the smallest one in the list, it takes its place (augmented sketch: Roy, Khan
 * and Alonso, 2016).
 */
export class HeavyList {
  readonly #places = new Map<string, number>()
  readonly #names: (string | undefined)[] = new Array<string | undefined>(PLACES).fill(undefined)
  /** The sum of each slice, for each place. */
  readonly #counted = new Float64Array(PLACES * SLICES)
  /** A name's count in the sketch when it joined. It fades in steps, as if it had been counted evenly. */
  readonly #before = new Float64Array(PLACES)
  readonly #step = new Float64Array(PLACES)
  /** By place: the count and the estimate from before. */
  readonly #sums = new Float64Array(PLACES)
  /** A lower bound for all sums in the list. */
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

  /** Clears a slice, which has the oldest counts, for new ones. */
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

  /** Returns the heaviest names first; equal ones by name. */
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

  /** Returns a place that is free, or whose name has less than `sum`. */
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

/** Copies a text. A substring would keep its longer original in memory. */
function copyOf(text: string): string {
  return ` ${text}`.slice(1)
}

/** The width of a row, a power of two: a name's position is some bits of its hash. */
const WIDTH = 2_048
const ROWS = 4

/** Two independent 32-bit hashes, from which each row gets its own (Kirsch and Mitzenmacher, 2006). */
export interface Hash {
  readonly first: number
  readonly second: number
}

/**
 * A count-min sketch (Cormode and Muthukrishnan, 2005) with conservative update (Estan and Varghese, 2002). It counts
 * any number of names in fixed memory. Without fading, counts are never too low.
 */
class Sketch {
  readonly #cells = new Float64Array(WIDTH * ROWS)

  /** Returns the count of a name, including other names at the same positions. */
  of(hash: Hash): number {
    let least = Number.POSITIVE_INFINITY
    for (let row = 0; row < ROWS; row++) least = Math.min(least, this.#cells[place(hash, row)]!)
    return least
  }

  /** Raises a name's count to at least this. */
  raiseTo(hash: Hash, amount: number): void {
    for (let row = 0; row < ROWS; row++) {
      const at = place(hash, row)
      if (this.#cells[at]! < amount) this.#cells[at] = amount
    }
  }

  clear(): void {
    this.#cells.fill(0)
  }

  /** @param share the share of each count that remains */
  fade(share: number): void {
    for (let at = 0; at < this.#cells.length; at++) this.#cells[at]! *= share
  }
}

function place({ first, second }: Hash, row: number): number {
  return row * WIDTH + ((first + Math.imul(row, second)) & (WIDTH - 1))
}

/**
 * Hashes names with a secret seed, so that no one can choose names that collide with others. Uses the mixing of
 * MurmurHash3 in two lanes.
 */
export class NameHash {
  readonly #seeds: Uint32Array

  /** @param seeds two 32-bit numbers */
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
    // Odd, so that all rows differ.
    return { first: finish(first), second: finish(second) | 1 }
  }
}

function finish(lane: number): number {
  const mixed = Math.imul(lane ^ (lane >>> 16), 0x85eb_ca6b)
  return mixed ^ (mixed >>> 13)
}

/** The number of parts of a period. Counts expire part by part. */
const SLICES = 6

/** The current part of a sliding period. */
export class Slices {
  readonly #sliceMs: number
  #number: number

  constructor(periodMs: number, now: number) {
    this.#sliceMs = periodMs / SLICES
    this.#number = Math.floor(now / this.#sliceMs)
  }

  /** The current slice, 0 to {@link SLICES} - 1. */
  get present(): number {
    return this.#number % SLICES
  }

  /** When the oldest slice started, in epoch milliseconds. */
  get sinceAt(): number {
    return Math.ceil((this.#number - SLICES + 1) * this.#sliceMs)
  }

  /**
   * Calls `turn` for each slice that starts by `now`, or `clear` if all have expired. If the clock steps back, counting
   * continues in the current slice.
   */
  advance(now: number, { turn, clear }: { turn(slice: number): void; clear(): void }): void {
    const number = Math.floor(now / this.#sliceMs)
    if (number <= this.#number) return
    const last = this.#number
    this.#number = number
    if (number - last >= SLICES) clear()
    else for (let each = last + 1; each <= number; each++) turn(each % SLICES)
  }
}
