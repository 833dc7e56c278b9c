/** The most calls in flight that a store accepts. */
const MOST_IN_FLIGHT = 10_000

/** Counts calls in flight. At the maximum, a store accepts no more. Closing waits until none is left. */
export class InFlight {
  readonly #most: number
  #count = 0
  readonly #waiting: (() => void)[] = []

  /** @param most calls that wait for a response, or whose response may still arrive. Default: 10,000 */
  constructor(most: number = MOST_IN_FLIGHT) {
    this.#most = most
  }

  get count(): number {
    return this.#count
  }

  /** Why no more calls are accepted; `undefined`: there is room. */
  get refusal(): string | undefined {
    if (this.#count < this.#most) return undefined
    return `${this.#most} calls are in flight, and no more are taken on`
  }

  /** Adds calls. Call {@link done} for each later. */
  add(calls = 1): void {
    this.#count += calls
  }

  /** Call after a response, or after a final failure. */
  done(calls = 1): void {
    this.#count -= calls
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when a call is done; immediately if none is in flight. */
  next(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Resolves when no call is in flight. */
  async idle(): Promise<void> {
    while (this.#count > 0) await this.next()
  }
}
