import type { QuotaLogger } from '@scoregw/quota'
import type { Deadline } from '@scoregw/quota/store'
import type { Cluster, Redis } from 'ioredis'
import type { Script } from '../lua/script.ts'
import { isReplyOf, storeError } from './errors.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout } = globalThis

/** A client of one server by node-redis, 5.12.1 or later: `createClient()`. It need not be connected. */
export interface NodeRedisClient {
  readonly isReady: boolean
  readonly options?: object | undefined
  duplicate(): unknown
  withTypeMapping(mapping: never): unknown
}

/** A client of one server by ioredis or node-redis, or of a cluster by ioredis. */
export type RedisClient = Redis | Cluster | NodeRedisClient

/**
 * Checks members, as a program may contain two copies of a package. Clients of clusters are neither ready nor unready.
 */
export function isNodeRedis(client: object): client is NodeRedisClient {
  return 'withTypeMapping' in client && 'duplicate' in client && 'isReady' in client
}

/** A part of a command. Text is sent as UTF-8. */
export type Word = string | number | Buffer

/** A server's reply. Text is bytes. */
export type Reply = Buffer | number | null | readonly Reply[]

/**
 * A store's connection to the server that has its keys; in a cluster, to the server that has them now. No command is
 * ever sent twice. While the server is not usable, all commands fail immediately.
 */
export interface Connection {
  /**
   * Whether calls share neither a timer nor a promise, for runtimes such as Cloudflare Workers, where the end of a
   * request ends everything that it began.
   */
  readonly sharesNothing?: boolean
  /** Whether the server is connected and passed the check. */
  readonly usable: boolean
  /**
   * Set while the first connection is being made and nothing has failed yet; resolves when either is over. Deadlines of
   * calls start after that.
   */
  readonly opening: Promise<void> | undefined
  /**
   * The current server, as a connection of its own.
   *
   * @throws {QuotaError} `store_error` if it is not known yet; never after {@link ready}
   */
  readonly server: Connection
  /**
   * Resolves when the connection is usable. It waits for the first attempt to connect, and for the first after a break.
   * Once an attempt has failed, it rejects immediately until one succeeds.
   *
   * @throws {QuotaError} `store_error`, `unsafe_eviction`
   */
  ready(): Promise<void>
  /**
   * Sends one command. Commands that are sent without waiting in between arrive in order, with nothing between them.
   */
  send(command: string, ...words: readonly Word[]): Promise<Reply>
  /**
   * The server that an error reply redirects to for this one call, as for keys that are being moved. Commands on that
   * connection are sent as asking. `undefined` for other errors.
   */
  redirected?(error: unknown): Promise<Connection> | undefined
  /**
   * Runs a script, if that takes more than a command. Nothing is sent after the deadline.
   *
   * @param args number of keys, keys and arguments
   */
  evaluate?(script: Script, args: readonly Word[], deadline: Deadline): Promise<Reply>
  /** Closes everything. Commands in flight reject. */
  close(): void
}

/**
 * The reaction to a Redis that may evict keys when its memory is full. An evicted counter restarts at zero, so more is
 * admitted than the limit allows, without a trace.
 *
 * - `require-noeviction`: the store refuses to work (`unsafe_eviction`).
 * - `warn`: it works, and logs a warning once per connection.
 */
export type EvictionPolicy = 'require-noeviction' | 'warn'

/** The default deadline of an attempt to connect, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 2_000

/** Options of a store's own connections. */
export interface ConnectionOptions {
  /** Checked at every connect, and from time to time. @default no check */
  readonly evictionPolicy?: EvictionPolicy | undefined
  /** How long a check is valid, in milliseconds. @default 10,000 */
  readonly checkedMs?: number | undefined
  /** The deadline of an attempt to connect, in milliseconds. @default 2,000 */
  readonly connectTimeoutMs?: number | undefined
  /** How long calls wait, in milliseconds. A silent connection is kept as long. @default 1,000 */
  readonly deadlineMs?: number | undefined
  /** @default the console */
  readonly logger?: QuotaLogger | undefined
  /** Called when a connection is usable: the first time and after each reconnect. */
  readonly onUsable?: ((server: Connection) => void) | undefined
}

/** A text in a reply. Its bytes may be of another realm: test runners have their own `Buffer`. */
export function textOf(reply: Reply | undefined): string | undefined {
  if (!ArrayBuffer.isView(reply)) return undefined
  return Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength).toString()
}

/** The same of a reply that is always text. @throws {QuotaError} `store_error` */
export function textIn(reply: Reply | undefined): string {
  const text = textOf(reply)
  if (text === undefined) throw storeError('Redis sent a reply that cannot be read')
  return text
}

// Work on the server that has the keys --------------------------------------------------------------------------------

/** How often work is tried, and the pause between two attempts in milliseconds. */
const TRIES = 10
const PAUSE_MS = 50

/**
 * Runs one command's work on the server that has its keys. While a cluster reports that the work was not done and will
 * soon be possible, it is repeated for half a second. Other errors, and unknown outcomes, reject.
 */
export async function carryOut<T>(connection: Connection, work: (connection: Connection) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await connection.ready()
    try {
      return await followed(connection, work)
    } catch (error) {
      if (attempt === TRIES || !isReplyOf(error, 'MOVED', 'ASK', 'TRYAGAIN', 'CLUSTERDOWN', 'NOAUTH')) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

async function followed<T>(connection: Connection, work: (connection: Connection) => Promise<T>): Promise<T> {
  try {
    return await work(connection)
  } catch (error) {
    const other = await connection.redirected?.(error)?.catch(() => undefined)
    if (other === undefined) throw error
    return work(other)
  }
}
