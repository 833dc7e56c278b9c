/** Parts of a period that are forgotten one by one. */
export const SLICES = 6

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
