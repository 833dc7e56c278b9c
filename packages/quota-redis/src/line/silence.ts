import type { Redis } from 'ioredis'

/** A server that says nothing for so long while it is asked is given up, in milliseconds. */
export const SILENCE_MS = 1_000
/** How often it is looked whether something was heard, in milliseconds. */
const STEP_MS = 250

/**
 * Gives up a connection on which an answer is awaited and nothing is heard. The client's own time limit would judge a
 * process that stood still by the clock on the wall, before it looks at what has arrived meanwhile; here a step counts as
 * one step however long it took, and the socket is read before it is counted.
 */
export class Silence {
  readonly #redis: Redis
  #timer: NodeJS.Timeout | undefined
  #silentMs = 0
  #bytesRead = 0

  constructor(redis: Redis) {
    this.#redis = redis
    redis.on('connect', () => this.watch())
  }

  /** To be called when something is asked. */
  watch(): void {
    if (this.#timer !== undefined) return
    this.#silentMs = 0
    this.#bytesRead = this.#redis.stream.bytesRead
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
    const { stream, commandQueue } = this.#redis
    if (commandQueue.length === 0 || stream === undefined || stream.destroyed) {
      this.#timer = undefined
      return
    }
    const isSilent = stream.bytesRead === this.#bytesRead
    this.#bytesRead = stream.bytesRead
    this.#silentMs = isSilent ? this.#silentMs + STEP_MS : 0
    if (this.#silentMs < SILENCE_MS) {
      this.#step()
      return
    }
    this.#timer = undefined
    stream.destroy(new Error(`the server said nothing for ${SILENCE_MS} ms`))
  }
}
