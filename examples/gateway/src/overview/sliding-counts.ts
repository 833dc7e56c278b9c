/** How many minutes are counted, including the current one. */
const MINUTES = 10

export const SLIDING_MINUTES: number = MINUTES

/** Counts of the last ten minutes by name. The policy defines the names, so they are few. */
export class SlidingCounts {
  readonly #counts = new Map<string, Float64Array>()
  #minute: number

  /** @param now epoch milliseconds */
  constructor(now: number) {
    this.#minute = minuteOf(now)
  }

  add(name: string, now: number): void {
    this.#advance(now)
    const counts = this.#counts.get(name) ?? new Float64Array(MINUTES)
    const at = this.#minute % MINUTES
    counts[at] = (counts[at] ?? 0) + 1
    this.#counts.set(name, counts)
  }

  /** Returns the names with a count above 0, and their counts. */
  all(now: number): [name: string, count: number][] {
    this.#advance(now)
    const sums = [...this.#counts].map(([name, counts]): [string, number] => [name, counts.reduce((a, b) => a + b, 0)])
    return sums.filter(([, count]) => count > 0)
  }

  /** Returns when the counts start, in epoch milliseconds. */
  sinceAt(now: number): number {
    this.#advance(now)
    return (this.#minute - MINUTES + 1) * 60_000
  }

  #advance(now: number): void {
    const minute = minuteOf(now)
    if (minute <= this.#minute) return
    const passed = Math.min(MINUTES, minute - this.#minute)
    this.#minute = minute
    for (const counts of this.#counts.values()) {
      for (let each = 0; each < passed; each++) counts[(minute - each) % MINUTES] = 0
    }
  }
}

function minuteOf(now: number): number {
  return Math.floor(now / 60_000)
}
