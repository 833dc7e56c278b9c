import { QuotaError } from '@scoregw/quota'
import { Deadline } from '@scoregw/quota/store'

/** The default deadline of connecting, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 2_000

/** A pool's first connection. Calls wait for it, and their deadlines start after it. */
export class FirstConnection {
  readonly #connect: (over: Promise<void>) => Promise<unknown>
  readonly #connectTimeoutMs: number
  /** Runs while the connection is being made and nothing has failed yet. */
  #limit: Deadline | undefined
  #isClosed = false
  #error: unknown

  /** @param connect takes a connection of the pool, prepares the first call, and returns it; `over` ends in vain */
  constructor(connect: (over: Promise<void>) => Promise<unknown>, connectTimeoutMs: number) {
    this.#connect = connect
    this.#connectTimeoutMs = connectTimeoutMs
  }

  /** Why it was not made. */
  get error(): unknown {
    return this.#error
  }

  /**
   * Begins to connect. Set while the first connection is being made and nothing has failed yet; resolves when either is
   * over.
   */
  get opening(): Promise<void> | undefined {
    if (this.#isClosed) return undefined
    if (this.otherVersion !== undefined && this.#limit?.isRunning === false) this.#limit = undefined
    this.#limit ??= this.#begin()
    return this.#limit.isRunning ? this.#limit.settled : undefined
  }

  /** Set if the tables have another version. The next call looks again. */
  get otherVersion(): QuotaError | undefined {
    return this.#error instanceof QuotaError && this.#error.code === 'other_version' ? this.#error : undefined
  }

  /** Adds something to prepare. The next call begins again, unless a preparation is in progress or has failed. */
  prepareMore(): void {
    if (this.#limit?.isRunning === false && this.#error === undefined) this.#limit = undefined
  }

  /** Ends all waiting for it. */
  close(): Promise<void> | undefined {
    this.#isClosed = true
    this.#limit?.met()
    return this.#limit?.settled
  }

  #begin(): Deadline {
    this.#error = undefined
    const limit = new Deadline(this.#connectTimeoutMs, () => {
      this.#error = new Error(`no connection within ${this.#connectTimeoutMs} ms`)
    })
    this.#connect(limit.settled)
      .catch((error: unknown) => {
        this.#error = error
      })
      .finally(() => limit.met())
    return limit
  }
}
