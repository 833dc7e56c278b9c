import type { Clock } from '@scoregw/quota'
import { Deadline } from '@scoregw/quota/store'
import { carryOut } from '../connection/carry-out.ts'
import type { Connection, Reply } from '../connection/connection.ts'
import { noAnswer, refusal, verdictOf } from '../connection/errors.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout } = globalThis

/** The pause before a read is repeated, in milliseconds. */
const AGAIN_AFTER_MS = 20

/** The dependencies of {@link HoldIndexes}. */
export interface HoldIndexesDeps {
  readonly connection: Connection
  readonly deadlineMs: number
  readonly testClock: Clock | undefined
}

/**
 * Reads indexes of open holds: the names of their records, earliest end first. Its methods reject with `store_error`
 * after the deadline.
 */
export class HoldIndexes {
  readonly #deps: HoldIndexesDeps

  constructor(deps: HoldIndexesDeps) {
    this.#deps = deps
  }

  /** Whether the server can be called now. */
  get isUsable(): boolean {
    return this.#deps.connection.usable
  }

  /** Up to `most` holds, including those that have expired and aren't settled yet. */
  async first(index: string, most: number): Promise<readonly string[]> {
    const names = await this.#inTime((server) => server.send('ZRANGE', index, 0, most - 1))
    return (names as readonly Buffer[]).map(String)
  }

  /** Those of the first `most` holds that have expired. */
  async ended(index: string, most: number): Promise<readonly string[]> {
    const { testClock } = this.#deps
    const [time, words] = await this.#inTime((server) =>
      Promise.all([server.send('TIME'), server.send('ZRANGE', index, 0, most - 1, 'WITHSCORES')]),
    )
    const [seconds, microseconds] = (time as readonly Buffer[]).map(Number) as [number, number]
    const now = testClock?.now() ?? seconds * 1_000 + Math.floor(microseconds / 1_000)
    // Flat, or in pairs, as the client has them.
    const texts = (words as readonly Reply[]).flat().map(String)
    return texts.filter((_, i) => i % 2 === 0 && Number(texts[i + 1]) <= now)
  }

  count(index: string): Promise<number> {
    return this.#inTime((server) => server.send('ZCARD', index)) as Promise<number>
  }

  /** A read changes nothing, so it is repeated as long as that may help. */
  async #inTime<T extends Reply | readonly Reply[]>(read: (server: Connection) => Promise<T>): Promise<T> {
    const { connection, deadlineMs } = this.#deps
    const deadline = new Deadline(deadlineMs)
    const tries = async (): Promise<T> => {
      for (;;) {
        try {
          return await carryOut(connection, read)
        } catch (error) {
          if (verdictOf(error) === 'refused' || deadline.isOver) throw refusal(error, 'Redis')
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS))
      }
    }
    try {
      const answered = await Promise.race([tries().then((answer) => [answer] as const), deadline.settled])
      if (answered === undefined) throw noAnswer(deadlineMs, undefined)
      return answered[0]
    } finally {
      deadline.met()
    }
  }
}
