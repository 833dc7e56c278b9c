/** A server that says nothing for so long while it is asked is given up, in milliseconds. */
const SILENCE_MS = 1_000
/** How often it is looked whether something was heard, in milliseconds. */
const STEP_MS = 250

/** A connection as silence is seen on it. */
export interface Watched {
  /** How many answers are awaited; 0 on a connection that is closed. */
  inFlight(): number
  /** Grows with whatever is heard. */
  heard(): number
  giveUp(error: Error): void
}

/**
 * Gives up a connection on which an answer is awaited and nothing is heard. The client's own time limit would judge a
 * process that stood still by the clock on the wall, before it looks at what has arrived meanwhile; here a step counts as
 * one step however long it took, and the socket is read before it is counted.
 */
export class Silence {
  readonly #watched: Watched
  #timer: NodeJS.Timeout | undefined
  #silentMs = 0
  #heard = 0

  constructor(watched: Watched) {
    this.#watched = watched
  }

  /** To be called when something is asked. */
  watch(): void {
    if (this.#timer !== undefined) return
    this.#silentMs = 0
    this.#heard = this.#watched.heard()
    this.#step()
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  #step(): void {
    // Pending input is read between a timer and the immediate that it sets.
    this.#timer = setTimeout(() => setImmediate(() => this.#look()), STEP_MS).unref()
  }

  #look(): void {
    if (this.#watched.inFlight() === 0) {
      this.#timer = undefined
      return
    }
    const heard = this.#watched.heard()
    this.#silentMs = heard === this.#heard ? this.#silentMs + STEP_MS : 0
    this.#heard = heard
    if (this.#silentMs < SILENCE_MS) {
      this.#step()
      return
    }
    this.#timer = undefined
    this.#watched.giveUp(new Error(`the server said nothing for ${SILENCE_MS} ms`))
  }
}
