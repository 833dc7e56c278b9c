/** The memory per element of a bot's parsed records, in bytes. An empty object takes 64. */
const BYTES_AN_ELEMENT = 40

/** A request's part of the budget. */
export interface Share {
  /** Whether there is room for a body with this many bytes and elements in total. If not, the share stays unchanged. */
  grow(bytes: number, elements: number): boolean
  /** Releases the whole share. You can call it again. */
  end(): void
}

/**
 * Limits the memory of all bodies in flight in a service, from their first byte until their response. One caller may
 * use a part, so that a slow sender doesn't keep the others out.
 * Hand-written: `express.json()` and similar packages limit one body, never the sum of those in flight.
 */
export class ByteBudget {
  readonly #most: number
  readonly #mostOfOne: number
  #used = 0
  readonly #usedBy = new Map<string, number>()

  /**
   * @param most bytes of all callers
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

  /** @param caller who sends the body */
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
