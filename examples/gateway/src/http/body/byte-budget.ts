/** What an element takes in memory once it is parsed, of records as bots send them; of empty objects it is 64. */
const BYTES_AN_ELEMENT = 40

/** What a request has of the budget. */
export interface Share {
  /** Whether there is room for a body of so many bytes and elements in all; if not, the share stays as it was. */
  grow(bytes: number, elements: number): boolean
  /** Gives everything back; again does no harm. */
  end(): void
}

/**
 * Bounds the memory of all bodies in flight in a service, from their first byte until they are answered. One caller may
 * have a part of it, so that a slow sender does not keep the others out.
 *
 * Hand-written: `express.json()` and the like limit one body, never the sum of those in flight.
 */
export class ByteBudget {
  readonly #most: number
  readonly #mostOfOne: number
  #used = 0
  readonly #usedBy = new Map<string, number>()

  /**
   * @param most bytes of all
   * @param mostOfOne bytes of one caller
   */
  constructor(most: number, mostOfOne: number) {
    this.#most = most
    this.#mostOfOne = mostOfOne
  }

  /** Bytes in flight. */
  get used(): number {
    return this.#used
  }

  /** @param caller whose body it is */
  share(caller: string): Share {
    let own = 0
    const change = (bytes: number): void => {
      own += bytes
      this.#used += bytes
      const left = (this.#usedBy.get(caller) ?? 0) + bytes
      if (left === 0) this.#usedBy.delete(caller)
      else this.#usedBy.set(caller, left)
    }
    return {
      grow: (bytes, elements) => {
        const more = bytes + elements * BYTES_AN_ELEMENT - own
        if (more <= 0) return true
        const isRoom = this.#used + more <= this.#most && (this.#usedBy.get(caller) ?? 0) + more <= this.#mostOfOne
        if (isRoom) change(more)
        return isRoom
      },
      end: () => change(-own),
    }
  }
}
