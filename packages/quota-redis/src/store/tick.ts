/** The end of a tick of the event loop, at which everything goes out that was asked for in it. */
export class Tick {
  readonly #inOnePacket: (send: () => void) => void
  #sends: (() => void)[] = []

  /** @param inOnePacket does the work given to it, so that what it writes goes out at once */
  constructor(inOnePacket: (send: () => void) => void) {
    this.#inOnePacket = inOnePacket
  }

  /** Calls `send`, which must not throw, at the end of this tick. */
  atEnd(send: () => void): void {
    if (this.#sends.length === 0) setImmediate(() => this.#end())
    this.#sends.push(send)
  }

  /** Calls `send`, which must not throw, after so long, unless what it returns is called before. */
  after(ms: number, send: () => void): () => void {
    const timer = setTimeout(() => this.#inOnePacket(send), ms)
    return () => clearTimeout(timer)
  }

  #end(): void {
    const sends = this.#sends
    this.#sends = []
    this.#inOnePacket(() => {
      for (const send of sends) send()
    })
  }
}
