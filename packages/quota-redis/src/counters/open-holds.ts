import type { Clock } from '@scoregw/quota'
import { Deadline } from '@scoregw/quota/store'
import { type Connection, carryOut, type Reply } from '../connection/connection.ts'
import { noAnswer, refusal, verdictOf } from '../connection/errors.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, setInterval, clearInterval } = globalThis

/** The pause before a read is repeated, in milliseconds. */
const AGAIN_AFTER_MS = 20
/** How often a process checks for expired holds. They are refunded within a second. */
const SWEEP_EVERY_MS = 500
/** How many holds are settled together. */
const SWEPT_AT_ONCE = 32

/** The dependencies of {@link HoldIndexes}. */
interface HoldIndexesDeps {
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

/** Refunds expired holds of all processes. */
export class HoldSweeper {
  readonly #indexes: HoldIndexes
  readonly #index: string
  readonly #settle: (name: string) => Promise<boolean>
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  /**
   * @param index of all open holds
   * @param settle settles an expired hold. It resolves to false if another process was faster
   */
  constructor(indexes: HoldIndexes, index: string, settle: (name: string) => Promise<boolean>) {
    this.#indexes = indexes
    this.#index = index
    this.#settle = settle
  }

  /** Sweeps periodically from now on. It does not keep the process alive. */
  start(): void {
    let isSweeping = false
    this.#timer = setInterval(async () => {
      if (isSweeping || !this.#indexes.isUsable) return
      isSweeping = true
      await this.sweep().catch(() => undefined)
      isSweeping = false
    }, SWEEP_EVERY_MS)
    this.#timer.unref()
  }

  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }

  /** Settles all expired holds. */
  async sweep(): Promise<void> {
    for (let hasSettled = true; hasSettled && !this.#isStopped; ) {
      const names = await this.#indexes.ended(this.#index, SWEPT_AT_ONCE)
      // If others settle the same holds, or none can be settled, the next sweep continues.
      hasSettled = (await Promise.all(names.map((name) => this.#settle(name)))).includes(true)
    }
  }
}
