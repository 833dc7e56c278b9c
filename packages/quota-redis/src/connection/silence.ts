/** A server that answers nothing for so long is given up, in milliseconds. */
const SILENCE_MS = 1_000
/** How often the connection is checked, in milliseconds. */
const STEP_MS = 250

/** A connection as silence is seen on it. */
export interface Watched {
  /** How many answers are awaited; 0 on a connection that is closed. */
  inFlight(): number
  /** Grows with each byte or reply that arrives. */
  received(): number
  giveUp(error: Error): void
}

/**
 * Gives up a connection on which an answer is awaited and nothing arrives. The client's own time limit would judge a
 * process that stood still by the clock on the wall, before it looks at what has arrived meanwhile; here a step counts as
 * one step however long it took, and the socket is read before it is counted.
 */
export class Silence {
  readonly #watched: Watched
  #timer: NodeJS.Timeout | undefined
  #silentMs = 0
  #received = 0

  constructor(watched: Watched) {
    this.#watched = watched
  }

  /** To be called when a command is sent. */
  watch(): void {
    if (this.#timer !== undefined) return
    this.#silentMs = 0
    this.#received = this.#watched.received()
    this.#step()
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  #step(): void {
    // Pending input is read between a timer and the immediate that it sets.
    this.#timer = setTimeout(() => setImmediate(() => this.#check()), STEP_MS).unref()
  }

  #check(): void {
    if (this.#watched.inFlight() === 0) {
      this.#timer = undefined
      return
    }
    const received = this.#watched.received()
    this.#silentMs = received === this.#received ? this.#silentMs + STEP_MS : 0
    this.#received = received
    if (this.#silentMs < SILENCE_MS) {
      this.#step()
      return
    }
    this.#timer = undefined
    this.#watched.giveUp(new Error(`the server said nothing for ${SILENCE_MS} ms`))
  }
}
