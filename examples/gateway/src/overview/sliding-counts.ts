/** Counts by name over the last steps of time, including the current one. The code defines the names, so they are few. */
export class SlidingCounts<Name extends string> {
  readonly #counts = new Map<Name, Float64Array>()
  readonly #steps: number
  readonly #stepMs: number
  #step: number

  /** @param now epoch milliseconds */
  constructor({ steps, stepMs, now }: { readonly steps: number; readonly stepMs: number; readonly now: number }) {
    this.#steps = steps
    this.#stepMs = stepMs
    this.#step = Math.floor(now / stepMs)
  }

  add(name: Name, now: number): void {
    this.#advance(now)
    const counts = this.#counts.get(name) ?? new Float64Array(this.#steps)
    const at = this.#step % this.#steps
    counts[at] = (counts[at] ?? 0) + 1
    this.#counts.set(name, counts)
  }

  /** Returns the names with a count above 0 and their counts, the highest first. */
  sums(now: number): { readonly name: Name; readonly count: number }[] {
    this.#advance(now)
    return [...this.#counts]
      .map(([name, counts]) => ({ name, count: counts.reduce((sum, count) => sum + count, 0) }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => b.count - a.count)
  }

  /** Returns a name's counts in all steps but the current one, the oldest first. */
  before(name: Name, now: number): number[] {
    this.#advance(now)
    const counts = this.#counts.get(name)
    return Array.from({ length: this.#steps - 1 }, (_, index) => counts?.[(this.#step + 1 + index) % this.#steps] ?? 0)
  }

  /** Returns when the counts start, in epoch milliseconds. */
  sinceAt(now: number): number {
    this.#advance(now)
    return (this.#step - this.#steps + 1) * this.#stepMs
  }

  /** If the clock steps back, the current step goes on. */
  #advance(now: number): void {
    const step = Math.floor(now / this.#stepMs)
    const passed = Math.min(this.#steps, step - this.#step)
    if (passed <= 0) return
    this.#step = step
    for (const counts of this.#counts.values()) {
      for (let each = 0; each < passed; each++) counts[(step - each) % this.#steps] = 0
    }
  }
}
