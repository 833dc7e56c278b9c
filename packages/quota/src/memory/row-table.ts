import { type Cells, clearRow, isForgettable } from '../windows/row.ts'

/** Rows a chunk; chunks are never copied, so that growth costs no pause. */
const CHUNK_ROWS = 1_024

/**
 * How long a row is kept after its last window ended, so that a clock stepping back a little finds it again. In
 * milliseconds.
 */
const GRACE_MS = 60_000

/** The rows of one (layer, category), packed into chunks and found by key. */
export class RowTable {
  readonly #lengthsMs: readonly number[]
  readonly #width: number
  readonly #slots = new Map<string, number>()
  readonly #chunks: Cells[] = []
  readonly #free: number[] = []
  #next = 0
  #sweeper: MapIterator<[string, number]> | undefined

  constructor(lengthsMs: readonly number[]) {
    this.#lengthsMs = lengthsMs
    this.#width = 2 * lengthsMs.length
  }

  get size(): number {
    return this.#slots.size
  }

  /** The row's slot, or -1. */
  find(key: string): number {
    return this.#slots.get(key) ?? -1
  }

  /** Adds a row whose windows never opened; the caller knows that the key is absent. */
  add(key: string): number {
    const slot = this.#free.pop() ?? this.#next++
    if (slot >= this.#chunks.length * CHUNK_ROWS) this.#chunks.push(new Float64Array(CHUNK_ROWS * this.#width))
    clearRow(this.cells(slot), this.at(slot), this.#lengthsMs.length)
    this.#slots.set(key, slot)
    return slot
  }

  /** The array that holds a slot's row ... */
  cells(slot: number): Cells {
    return this.#chunks[Math.trunc(slot / CHUNK_ROWS)]!
  }

  /** ... and where in it the row begins. */
  at(slot: number): number {
    return (slot % CHUNK_ROWS) * this.#width
  }

  /** Looks at the next few rows and forgets those whose windows all ended. */
  sweep(now: number, rows: number): void {
    for (let looked = 0; looked < rows; looked++) {
      this.#sweeper ??= this.#slots.entries()
      const next = this.#sweeper.next()
      if (next.done) {
        this.#sweeper = undefined
        return
      }
      const [key, slot] = next.value
      if (!isForgettable(this.cells(slot), this.at(slot), this.#lengthsMs, now, GRACE_MS)) continue
      this.#slots.delete(key)
      this.#free.push(slot)
    }
  }

  /** Every row that still says something, as `[key, cells]`. */
  *rows(now: number): Generator<readonly [key: string, cells: number[]]> {
    for (const [key, slot] of this.#slots) {
      const at = this.at(slot)
      const cells = this.cells(slot)
      if (isForgettable(cells, at, this.#lengthsMs, now, GRACE_MS)) continue
      yield [key, Array.from(cells.subarray(at, at + this.#width))]
    }
  }
}
