/** A server that answers nothing for so long is disconnected, in milliseconds. */
const SILENCE_MS = 1_000
/** How often the connection is checked, in milliseconds. */
const STEP_MS = 250

/** The view of a connection that {@link Silence} needs. */
export interface Watched {
  /** How many replies are awaited; 0 on a closed connection. */
  inFlight(): number
  /** Grows with each byte or reply that arrives. */
  received(): number
  giveUp(error: Error): void
}

/**
 * Closes a connection on which a reply is awaited and nothing arrives. The client's own timeout compares wall clock
 * times, so after a pause of the process it fires before the waiting input is read. Here each step counts as one, even
 * if it took longer, and the socket is read before the step is counted.
 */
export class Silence {
  readonly #watched: Watched
  #timer: NodeJS.Timeout | undefined
  #silentMs = 0
  #received = 0

  constructor(watched: Watched) {
    this.#watched = watched
  }

  /** Starts the watch. Call it whenever a command is sent. */
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
    // Pending input is read between a timer and the immediate that the timer sets.
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
