import type { Clock } from '@scoregw/quota'
import type { Response } from 'express'
import type { Chore } from '../chores.ts'
import { HttpError } from '../http/http-error.ts'
import type { OverviewDocument } from './documents.ts'

/** The most listeners per process. */
const MAX_LISTENERS = 20
/** How long a stream lasts. Then the listener has to reconnect and authenticate again. */
const MAX_AGE_MS = 60_000
/** The most unsent bytes per listener. */
const MAX_BEHIND = 1_000_000
const EVERY_MS = 1_000
/** After how many seconds a refused listener should retry. */
const RETRY_SECONDS = 30

interface Listener {
  readonly res: Response
  readonly since: number
  readonly isAllowed: IsAllowed
}

/** Whether a listener is still allowed. */
type IsAllowed = () => Promise<boolean>

/** Sends the overview to all listeners every second. It is computed once for all. */
export class LiveOverview {
  readonly chore: Chore = { what: 'sending the overview', everyMs: EVERY_MS, run: () => this.send() }
  readonly #read: () => Promise<OverviewDocument>
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()
  /** Listeners with a place that wait for their first figures. */
  #opening = 0
  #isEnded = false

  constructor(read: () => Promise<OverviewDocument>, clock: Clock) {
    this.#read = read
    this.#clock = clock
  }

  /**
   * Opens a stream: responds with the first figures immediately, and keeps the connection open.
   *
   * @param isAllowed called every second
   * @throws {HttpError} `conflict` with too many listeners
   */
  async open(isAllowed: IsAllowed): Promise<(res: Response) => void> {
    if (this.#listeners.size + this.#opening >= MAX_LISTENERS) throw noRoom()
    this.#opening++
    try {
      const first = textOf(await this.#read())
      return (res) => this.#begin(res, first, isAllowed)
    } finally {
      this.#opening--
    }
  }

  /** Sends the overview to all listeners, if there are any. */
  async send(): Promise<void> {
    if (this.#listeners.size === 0) return
    await this.#endRevoked()
    const text = textOf(await this.#read())
    const now = this.#clock.now()
    for (const listener of this.#listeners) {
      const { res, since } = listener
      if (res.writableLength > MAX_BEHIND) res.destroy()
      else if (now - since >= MAX_AGE_MS) this.#end(listener)
      else res.write(text)
    }
  }

  /**
   * Closes streams of revoked credentials. While credentials can't be checked, streams stay open until their time is
   * up.
   */
  async #endRevoked(): Promise<void> {
    await Promise.all(
      [...this.#listeners].map(async (listener) => {
        if (!(await listener.isAllowed().catch(() => true))) this.#end(listener)
      }),
    )
  }

  /** Closes all streams. */
  end(): void {
    this.#isEnded = true
    for (const listener of this.#listeners) this.#end(listener)
  }

  #begin(res: Response, first: string, isAllowed: IsAllowed): void {
    res.write(`retry: ${EVERY_MS}\n\n${first}`)
    const listener = { res, since: this.#clock.now(), isAllowed }
    if (!res.closed) this.#listeners.add(listener)
    res.once('close', () => this.#listeners.delete(listener))
    if (this.#isEnded) this.#end(listener)
  }

  #end(listener: Listener): void {
    this.#listeners.delete(listener)
    listener.res.end()
  }
}

function noRoom(): HttpError {
  const msg = `${MAX_LISTENERS} pages show the overview of this process, the most there may be.`
  return new HttpError('conflict', msg, { retryAfterSeconds: RETRY_SECONDS })
}

function textOf(document: OverviewDocument): string {
  return `event: overview\ndata: ${JSON.stringify(document)}\n\n`
}

/** How long a figure may wait for its store, in milliseconds. New figures follow every second. */
const LIMIT_MS = 900

/** Resolves with `null` if the work fails or takes too long. */
export async function inTime<T>(work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), LIMIT_MS)
  })
  try {
    return await Promise.race([work.catch(() => null), late])
  } finally {
    clearTimeout(timer)
  }
}
