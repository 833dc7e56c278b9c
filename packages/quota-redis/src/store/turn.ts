/** The end of a turn of the event loop, at which everything goes out that was asked for in it. */
export class Turn {
  readonly #together: (send: () => void) => void
  #sends: (() => void)[] = []

  /** @param together does the work given to it, so that what it writes goes out at once */
  constructor(together: (send: () => void) => void) {
    this.#together = together
  }

  /** Calls `send`, which must not throw, at the end of this turn. */
  atEnd(send: () => void): void {
    if (this.#sends.length === 0) setImmediate(() => this.#end())
    this.#sends.push(send)
  }

  #end(): void {
    const sends = this.#sends
    this.#sends = []
    this.#together(() => {
      for (const send of sends) send()
    })
  }
}
