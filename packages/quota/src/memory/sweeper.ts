/** Entries that a step looks at: two for each decision between two steps keep a table at most twice what is live. */
const LOOKS = 16
/** Of the longest life of an entry: how long ended ones may linger before the next pass begins. */
const LINGER = 1 / 16
/** A table may double, and grow by so many entries, before the next pass begins early. */
const MAY_GROW = 64

/**
 * Forgets ended entries of a table in small steps, as a part of its use: no timers, no pauses. A pass looks at every
 * entry once; until the first of those that it kept can have ended, and a little longer, nothing is looked at, unless the
 * table grows: entries that came later may have ended sooner.
 */
export class Sweeper<V> {
  readonly #entries: Map<string, V>
  readonly #endsAt: (entry: V) => number
  #pass: MapIterator<[string, V]> | undefined
  /** The earliest end among what this pass kept. */
  #earliest = Number.POSITIVE_INFINITY
  #passedAt = 0
  #nextPassAt = 0
  #nextPassFrom = MAY_GROW

  readonly #hears: { dropped?(entry: V): void; kept?(key: string, entry: V): void }

  /** @param endsAt from when an entry may be forgotten, epoch milliseconds; it may only become later */
  constructor(
    entries: Map<string, V>,
    endsAt: (entry: V) => number,
    hears: { dropped?(entry: V): void; kept?(key: string, entry: V): void } = {},
  ) {
    this.#entries = entries
    this.#endsAt = endsAt
    this.#hears = hears
  }

  /** A step, where there is anything to look for. */
  step(now: number, lifeMs: number): void {
    if (now >= this.#nextPassAt || this.#isDueEarly(now)) this.sweep(now, lifeMs, LOOKS)
  }

  /** Also when the clock stepped back: what it said of the next pass was said of another time. */
  #isDueEarly(now: number): boolean {
    return this.#pass !== undefined || this.#entries.size >= this.#nextPassFrom || now < this.#passedAt
  }

  /** Looks at the next entries, `most` of them. */
  sweep(now: number, lifeMs: number, most: number): void {
    for (let looked = 0; looked < most; looked++) {
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
        this.#hears.dropped?.(entry)
      } else {
        this.#earliest = Math.min(this.#earliest, endsAt)
        this.#hears.kept?.(key, entry)
      }
    }
  }
}
