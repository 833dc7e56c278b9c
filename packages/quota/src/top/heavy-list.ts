/** Names that are counted one by one; more than are ever reported, so that the last of those are right. */
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
 * The names with the largest sums of one kind. Names in the list are counted exactly, slice by slice; the rest is in a
 * sketch, and a name whose count there passes the smallest of the list takes its place (an augmented sketch: Roy, Khan and
 * Alonso, 2016).
 */
export class HeavyList {
  readonly #places = new Map<string, number>()
  readonly #names: (string | undefined)[] = new Array<string | undefined>(PLACES).fill(undefined)
  /** For each place the sum of each slice. */
  readonly #counted = new Float64Array(PLACES * SLICES)
  /** What a name had in the sketch when it came; it goes in steps, as it would if it had been counted evenly. */
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

/** Counts side by side, a power of two: a name's place is some bits of its hash. */
const WIDTH = 2_048
const ROWS = 4

/** Two independent texts of 32 bits are made into one for each row (Kirsch and Mitzenmacher, 2006). */
export interface Hash {
  readonly first: number
  readonly second: number
}

/**
 * Counts of any number of names in a fixed room: a count-min sketch (Cormode and Muthukrishnan, 2005) that raises no count
 * further than it has to (Estan and Varghese, 2002). Its count of a name is never too low, as long as nothing fades.
 */
class Sketch {
  readonly #cells = new Float64Array(WIDTH * ROWS)

  /** The count of a name, other names that share its places included. */
  of(hash: Hash): number {
    let least = Number.POSITIVE_INFINITY
    for (let row = 0; row < ROWS; row++) least = Math.min(least, this.#cells[place(hash, row)]!)
    return least
  }

  /** Makes a name's count at least so much. */
  raiseTo(hash: Hash, amount: number): void {
    for (let row = 0; row < ROWS; row++) {
      const at = place(hash, row)
      if (this.#cells[at]! < amount) this.#cells[at] = amount
    }
  }

  clear(): void {
    this.#cells.fill(0)
  }

  /** @param share the share of every count that remains */
  fade(share: number): void {
    for (let at = 0; at < this.#cells.length; at++) this.#cells[at]! *= share
  }
}

function place({ first, second }: Hash, row: number): number {
  return row * WIDTH + ((first + Math.imul(row, second)) & (WIDTH - 1))
}

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

/** Parts of a period that are forgotten one by one. */
const SLICES = 6

/** Which part of a sliding period it is. */
export class Slices {
  readonly #sliceMs: number
  #number: number

  constructor(periodMs: number, now: number) {
    this.#sliceMs = periodMs / SLICES
    this.#number = Math.floor(now / this.#sliceMs)
  }

  /** The slice that is being counted, 0 to {@link SLICES} - 1. */
  get present(): number {
    return this.#number % SLICES
  }

  /** When the oldest slice began, in epoch milliseconds. */
  get sinceAt(): number {
    return Math.ceil((this.#number - SLICES + 1) * this.#sliceMs)
  }

  /**
   * Calls `turn` for each slice that begins by `now`, or `clear` where all are over. A clock that steps back begins none, so
   * that what comes meanwhile is of the present slice.
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
