/** Entries per step. Two per decision between steps keep a table at most twice as large as its live entries. */
const LOOKS = 16
/** How long ended entries may stay before the next pass, as a fraction of the longest lifetime of an entry. */
const LINGER = 1 / 16
/** A table may double and grow by this many entries before the next pass starts early. */
const MAY_GROW = 64

/**
 * Removes ended entries of a table in small steps while the table is used, without timers or pauses. A pass checks each
 * entry once. Then nothing is checked until shortly after the first remaining entry can have ended. If the table grows,
 * the next pass starts early, because newer entries may have ended sooner.
 */
export class Sweeper<V> {
  readonly #entries: Map<string, V>
  readonly #endsAt: (entry: V) => number
  #pass: MapIterator<[string, V]> | undefined
  /** The earliest end of the entries that this pass has kept. */
  #earliest = Number.POSITIVE_INFINITY
  #passedAt = 0
  #nextPassAt = 0
  #nextPassFrom = MAY_GROW

  readonly #listener: { dropped?(entry: V): void; kept?(key: string, entry: V): void }

  /** @param endsAt returns when an entry can be removed, in epoch milliseconds; this may only become later */
  constructor(
    entries: Map<string, V>,
    endsAt: (entry: V) => number,
    listener: { dropped?(entry: V): void; kept?(key: string, entry: V): void } = {},
  ) {
    this.#entries = entries
    this.#endsAt = endsAt
    this.#listener = listener
  }

  /** Runs a step if there is anything to check. */
  step(now: number, lifeMs: number): void {
    if (now >= this.#nextPassAt || this.#isDueEarly(now)) this.sweep(now, lifeMs, LOOKS)
  }

  /** Also true after the clock stepped back, because the next pass was planned for another time. */
  #isDueEarly(now: number): boolean {
    return this.#pass !== undefined || this.#entries.size >= this.#nextPassFrom || now < this.#passedAt
  }

  /** Checks the next `most` entries. */
  sweep(now: number, lifeMs: number, most: number): void {
    for (let checked = 0; checked < most; checked++) {
      this.#pass ??= this.#entries.entries()
      const next = this.#pass.next()
      if (next.done) {
        this.#pass = undefined
        this.#passedAt = now
        this.#nextPassFrom = 2 * this.#entries.size + MAY_GROW
        this.#nextPassAt = Math.max(Math.min(this.#earliest, now + lifeMs), now + lifeMs * LINGER)
        this.#earliest = Number.POSITIVE_INFINITY
        return
      }
      const [key, entry] = next.value
      const endsAt = this.#endsAt(entry)
      if (now >= endsAt) {
        this.#entries.delete(key)
        this.#listener.dropped?.(entry)
      } else {
        this.#earliest = Math.min(this.#earliest, endsAt)
        this.#listener.kept?.(key, entry)
      }
    }
  }
}
