import { addOutcomes, type MinuteOutcomes, noOutcomes } from './outcome-store.ts'

/** Counts by minute, of at most so many minutes: beyond that the oldest minute is forgotten. */
export class OutcomeTable {
  readonly #maxMinutes: number
  readonly #minutes = new Map<number, MinuteOutcomes>()

  constructor(maxMinutes: number) {
    this.#maxMinutes = maxMinutes
  }

  get isEmpty(): boolean {
    return this.#minutes.size === 0
  }

  add(counts: MinuteOutcomes): void {
    const { minute } = counts
    this.#minutes.set(minute, addOutcomes(this.#minutes.get(minute) ?? noOutcomes(minute), counts))
    if (this.#minutes.size > this.#maxMinutes) this.#minutes.delete(Math.min(...this.#minutes.keys()))
  }

  /** In order of time. */
  entries(): MinuteOutcomes[] {
    return [...this.#minutes.values()].sort((a, b) => a.minute - b.minute)
  }
}
