import { Deadline } from '../step/deadline.ts'
import { Session, type SessionParts } from './session.ts'

/** A pool's first connection. Calls wait for it: their deadlines count from then on. */
export class FirstConnection {
  readonly #parts: SessionParts
  readonly #connectTimeoutMs: number
  /** Runs while the connection is being made and nothing has failed yet. */
  #limit: Deadline | undefined
  #isMade = false
  #error: unknown

  constructor(parts: SessionParts, connectTimeoutMs: number) {
    this.#parts = parts
    this.#connectTimeoutMs = connectTimeoutMs
    // In a later turn, so that a connection that this store asked for is free again.
    parts.pool.on?.('connect', () => {
      this.#isMade = true
      setImmediate(() => this.#limit?.met())
    })
  }

  /** Why it was not made. */
  get error(): unknown {
    return this.#error
  }

  /** Begins to connect. There while that goes on and nothing has failed yet; resolves when either is over. */
  get opening(): Promise<void> | undefined {
    if (this.#isMade && this.#limit === undefined) return undefined
    this.#limit ??= this.#begin()
    return this.#limit.isRunning ? this.#limit.settled : undefined
  }

  /** Nothing waits for it any longer. */
  close(): void {
    this.#limit?.met()
  }

  #begin(): Deadline {
    const limit = new Deadline(this.#connectTimeoutMs, () => {
      this.#error = new Error(`no connection within ${this.#connectTimeoutMs} ms`)
    })
    Session.open(this.#parts)
      .then(
        (session) => session.release(false),
        (error: unknown) => {
          this.#error = error
        },
      )
      .finally(() => limit.met())
    return limit
  }
}
