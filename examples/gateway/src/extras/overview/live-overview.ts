import type { Clock } from '@scoregw/quota'
import type { Response } from 'express'
import type { Chore } from '../../chores.ts'
import { HttpError } from '../../http/http-error.ts'
import type { OverviewDocument } from './documents.ts'

/** Most listeners of one process. */
const MAX_LISTENERS = 20
/** How long a stream lasts before its listener has to reconnect and show its credential again. */
const MAX_AGE_MS = 60_000
/** Bytes that a listener may be behind. */
const MAX_BEHIND = 1_000_000
const EVERY_MS = 1_000
/** After which a refused listener may find a place. */
const RETRY_SECONDS = 30

interface Listener {
  readonly res: Response
  readonly since: number
  readonly isAllowed: IsAllowed
}

/** Whether a listener may go on. */
type IsAllowed = () => Promise<boolean>

/** Sends the overview to all listeners, once a second, computed once for all. */
export class LiveOverview {
  readonly chore: Chore = { what: 'sending the overview', everyMs: EVERY_MS, run: () => this.send() }
  readonly #read: () => Promise<OverviewDocument>
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()
  /** Listeners that have a place and still wait for their first figures. */
  #opening = 0
  #isEnded = false

  constructor(read: () => Promise<OverviewDocument>, clock: Clock) {
    this.#read = read
    this.#clock = clock
  }

  /**
   * Answers with the first figures at once; the connection stays open for the others.
   *
   * @param isAllowed called each second
   * @throws {HttpError} `conflict` where too many listen
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

  /** While credentials cannot be checked, those who listen already go on until their minute is over. */
  async #endRevoked(): Promise<void> {
    await Promise.all(
      [...this.#listeners].map(async (listener) => {
        if (!(await listener.isAllowed().catch(() => true))) this.#end(listener)
      }),
    )
  }

  /** Ends all streams. */
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

/** The longest that one figure waits for its store, in milliseconds: each second there are new ones. */
const LIMIT_MS = 900

/** What comes in time; `null` for what does not, or fails. */
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
