/** How many calls a store accepts while none of them is answered. */
const MOST_IN_FLIGHT = 10_000

/** Counts calls in flight. Above a limit a store accepts no more; closing waits until none is left. */
export class InFlight {
  readonly #most: number
  #count = 0
  readonly #waiting: (() => void)[] = []

  /** @param most calls that wait for an answer, or whose answer may still arrive. Default: 10,000 */
  constructor(most: number = MOST_IN_FLIGHT) {
    this.#most = most
  }

  get count(): number {
    return this.#count
  }

  /** Why no more calls are accepted; `undefined` while there is room. */
  get refusal(): string | undefined {
    if (this.#count < this.#most) return undefined
    return `${this.#most} calls are in flight, and no more are taken on`
  }

  /** Adds calls. Each must be {@link done} later. */
  add(calls = 1): void {
    this.#count += calls
  }

  /** These calls were answered, or failed finally. */
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
