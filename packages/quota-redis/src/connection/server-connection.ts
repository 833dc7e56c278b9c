import { QuotaError, type QuotaLogger } from '@scoregw/quota'
import { Deadline } from '@scoregw/quota/store'
import type { Redis } from 'ioredis'
import {
  CONNECT_TIMEOUT_MS,
  type Connection,
  type ConnectionOptions,
  type EvictionPolicy,
  isNodeRedis,
  type NodeRedisClient,
  type Reply,
  type Word,
} from './connection.ts'
import { type Driver, type DriverEvents, type Place, silenceOf } from './driver.ts'
import { greetingError, isReply, isReplyOf, notConnected, withoutCommand } from './errors.ts'
import { IoredisDriver } from './ioredis-driver.ts'
import { NodeRedisDriver } from './node-redis-driver.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)

/** How long a server's eviction check is valid, in milliseconds. */
const CHECKED_MS = 10_000

/** Callers that wait for one attempt to connect. */
export class Waiters {
  readonly promise: Promise<void>
  resolve!: () => void
  reject!: (error: unknown) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    // Callers of `ready` get the error; without this line Node would also report it as unhandled.
    this.promise.catch(() => undefined)
  }
}

/** A store's own connection to one server. */
export class ServerConnection implements Connection {
  /** Used only in this folder. */
  readonly driver: Driver
  readonly #options: ConnectionOptions
  readonly #checkEviction: (() => Promise<void>) | undefined
  /** Runs while the first connection is being made and nothing has failed yet. */
  readonly #opening: Deadline
  #usable = false
  #closed = false
  /** The server failed the check on the current connection. */
  #refused = false
  /** The last attempt to connect failed. */
  #down = false
  #waiters: Waiters | undefined
  #lastError: unknown
  /** The server accepted the connection, and it is not ready yet. */
  #isGreeting = false
  /** Why the latest attempt to connect failed. */
  #attemptError: unknown
  /** When the server was last checked, by a monotonic clock. */
  #checkedAtMs = 0

  /** @param place the server, in a cluster */
  constructor(client: Redis | NodeRedisClient, options: ConnectionOptions, place?: Place) {
    this.#options = options
    const { evictionPolicy, logger = console, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options
    this.#opening = new Deadline(connectTimeoutMs, () => {
      this.#lastError = new Error(`no connection within ${connectTimeoutMs} ms`)
      this.#down = true
      this.#fail(notConnected(this.#lastError))
    })
    const events: DriverEvents = {
      onConnected: () => {
        this.#isGreeting = true
        this.#attemptError = undefined
      },
      onReady: () => {
        this.#isGreeting = false
        void this.#check()
      },
      onError: (error) => {
        this.#attemptError = withoutCommand(error)
        this.#lastError = this.#attemptError
      },
      onClosed: () => {
        if (this.#isGreeting) this.#lastError = greetingError(this.#attemptError)
        this.#isGreeting = false
        this.#down = !this.#usable
        this.#usable = false
        this.#refused = false
        this.#fail(notConnected(this.#lastError))
        place?.onClosed()
      },
    }
    const times = { connectTimeoutMs, silenceMs: silenceOf(options.deadlineMs) }
    this.driver = isNodeRedis(client)
      ? new NodeRedisDriver(client, events, times)
      : new IoredisDriver(client, events, times, place)
    const send: SendCommand = (command, words) => this.driver.send(command, words)
    this.#checkEviction = evictionPolicy && evictionCheck(send, evictionPolicy, logger)
  }

  get usable(): boolean {
    return this.#usable
  }

  get opening(): Promise<void> | undefined {
    return this.#opening.isRunning ? this.#opening.settled : undefined
  }

  get server(): Connection {
    return this
  }

  ready(): Promise<void> {
    if (this.#usable) return Promise.resolve()
    if (this.#closed) return Promise.reject(notConnected(new Error('closed')))
    if (this.#down) return Promise.reject(notConnected(this.#lastError))
    this.#waiters ??= new Waiters()
    const { promise } = this.#waiters
    // A new call checks the server again, as its configuration may have been corrected.
    if (this.#refused) {
      this.#refused = false
      void this.#check()
    }
    return promise
  }

  send(command: string, ...words: readonly Word[]): Promise<Reply> {
    if (this.#checkEviction !== undefined && this.#usable) this.#checkNowAndThen()
    return this.driver.send(command, words)
  }

  /** The same for keys that are being moved to this server. */
  sendAsking(command: string, ...words: readonly Word[]): Promise<Reply> {
    // It applies to the next command on the connection; if it fails, that command fails too.
    this.driver.send('ASKING', []).catch(() => undefined)
    return this.send(command, ...words)
  }

  close(): void {
    this.#closed = true
    this.#usable = false
    this.driver.close()
    this.#fail(notConnected(new Error('closed')))
  }

  #checkNowAndThen(): void {
    const nowMs = steadyMs()
    if (nowMs - this.#checkedAtMs < (this.#options.checkedMs ?? CHECKED_MS)) return
    this.#checkedAtMs = nowMs
    void this.#check()
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    this.#checkedAtMs = steadyMs()
    try {
      await this.#checkEviction?.()
    } catch (error) {
      const isRefused = error instanceof QuotaError
      // A failed check says nothing about a server that was usable before.
      if (!isRefused && this.#usable) return
      this.#refused = this.driver.isReady
      this.#usable = false
      this.#fail(isRefused ? error : notConnected(error))
      return
    }
    if (!this.driver.isReady || this.#usable) return
    this.#lastError = undefined
    this.#down = false
    this.#usable = true
    this.#opening.met()
    this.#waiters?.resolve()
    this.#waiters = undefined
    this.#options.onUsable?.(this)
  }

  #fail(error: unknown): void {
    this.#opening.met()
    this.#waiters?.reject(error)
    this.#waiters = undefined
  }
}

// Whether the server may evict keys -----------------------------------------------------------------------------------

/** Sends a command. */
type SendCommand = (command: string, words: readonly string[]) => Promise<unknown>

/**
 * Reads from the server whether it may evict keys.
 *
 * @returns the fault, if there is one
 * @throws the client's error if the connection breaks meanwhile
 */
async function evictionFault(send: SendCommand): Promise<string | undefined> {
  const policy = (await fromConfig(send)) ?? (await fromInfo(send))
  if (policy === 'noeviction') return undefined
  return policy === undefined
    ? "Can't read maxmemory-policy of Redis: neither CONFIG GET nor INFO memory is allowed. Allow one of them"
    : `Redis may evict counters (maxmemory-policy is ${policy}), and limits are then exceeded unnoticed. Set noeviction`
}

/**
 * A check of one server's eviction policy, to be made now and then.
 *
 * @throws {QuotaError} as a rejection of the check: `unsafe_eviction`
 */
function evictionCheck(send: SendCommand, wanted: EvictionPolicy, logger: QuotaLogger): () => Promise<void> {
  /** The last warning, so that it is logged once. */
  let warned: string | undefined
  return async () => {
    const fault = await evictionFault(send)
    if (fault !== undefined && wanted === 'require-noeviction') {
      throw new QuotaError('unsafe_eviction', `${fault}, or pass evictionPolicy: "warn".`)
    }
    if (fault !== undefined && fault !== warned) logger.warn(`${fault}.`)
    warned = fault
  }
}

async function fromConfig(send: SendCommand): Promise<string | undefined> {
  const reply = await unlessRefused(send('CONFIG', ['GET', 'maxmemory-policy']))
  return Array.isArray(reply) ? String(reply[1]) : undefined
}

async function fromInfo(send: SendCommand): Promise<string | undefined> {
  const reply = await unlessRefused(send('INFO', ['memory']))
  return /^maxmemory_policy:(\S+)/m.exec(String(reply))?.[1]
}

/** Managed servers forbid or remove commands. An error reply to one of them means no more than that. */
async function unlessRefused<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply
  } catch (error) {
    // Without a password the server replies with this error only.
    if (isReplyOf(error, 'NOAUTH')) throw error
    if (isReply(error)) return undefined
    throw error
  }
}
