import type { QuotaLogger } from '@scoregw/quota'
import type { Deadline } from '@scoregw/quota/store'
import type { Cluster, Redis } from 'ioredis'
import type { Script } from '../lua/script.ts'
import type { EvictionPolicy } from './eviction-policy.ts'

/** A client of one server as node-redis 5 makes it: `createClient()`. It need not be connected. */
export interface NodeRedisClient {
  readonly isReady: boolean
  readonly options?: object | undefined
  duplicate(): unknown
  withTypeMapping(mapping: never): unknown
}

/** A client of one server, by ioredis or node-redis; or of a cluster, by ioredis. */
export type RedisClient = Redis | Cluster | NodeRedisClient

/** By its members, as a program may hold two copies of a package. Its clients of clusters are not ready or unready. */
export function isNodeRedis(client: object): client is NodeRedisClient {
  return 'withTypeMapping' in client && 'duplicate' in client && 'isReady' in client
}

/** What stands in a command: texts go as UTF-8. */
export type Word = string | number | Buffer

/** The answer of a server. Texts are bytes. */
export type Reply = Buffer | number | null | readonly Reply[]

/**
 * What a store needs of a connection to the server that has its keys; on a cluster, to whichever has them at the time. No
 * command is ever sent twice, and while the server is not usable all fail immediately.
 */
export interface Connection {
  /**
   * Whether calls share neither a timer nor a promise, for runtimes such as Cloudflare Workers. There a request's end also ends
   * all that it began.
   */
  readonly sharesNothing?: boolean
  /** Whether the server is connected and passed the check. */
  readonly usable: boolean
  /**
   * There while the first connection is being made and nothing has failed yet; resolves when either is over. Deadlines of
   * calls count from then on.
   */
  readonly opening: Promise<void> | undefined
  /**
   * The server that it leads to now, as a connection of its own.
   * @throws {QuotaError} `store_error` where it is not known yet; not after {@link ready}
   */
  readonly server: Connection
  /**
   * Resolves when it is usable. Waits for the first attempt to connect, and for the first after a break; once an attempt has failed it rejects immediately, until a later one succeeds.
   * @throws {QuotaError} `store_error`, `unsafe_eviction`
   */
  ready(): Promise<void>
  /** Sends one command. Those that are sent without waiting in between arrive in order, with nothing in between. */
  send(command: string, ...words: readonly Word[]): Promise<Reply>
  /**
   * The server of a cluster that an error reply said to ask this once, as it does for keys that are on their way there.
   * Commands sent on that connection are taken for such a question. Nothing for other errors.
   */
  redirected(error: unknown): Promise<Connection> | undefined
  /**
   * Carries out a script, where that is more than a command. Nothing is sent after the deadline.
   * @param args number of keys, keys and arguments
   */
  evaluate?(script: Script, args: readonly Word[], deadline: Deadline): Promise<Reply>
  /** Leaves nothing open. Commands in flight reject. */
  close(): void
}

/** How long an attempt to connect may take where no option says otherwise, in milliseconds. */
export const CONNECT_TIMEOUT_MS = 2_000

/** How a store's own connections behave. */
export interface ConnectionOptions {
  /** Checked at every connect, and now and then. @default no check */
  readonly evictionPolicy?: EvictionPolicy | undefined
  /** How long the check is trusted, in milliseconds. @default 10,000 */
  readonly checkedMs?: number | undefined
  /** How long an attempt to connect may take, in milliseconds. @default 2,000 */
  readonly connectTimeoutMs?: number | undefined
  /** @default the console */
  readonly logger?: QuotaLogger | undefined
  /** Called when a connection is usable, the first time and after every reconnect. */
  readonly onUsable?: ((server: Connection) => void) | undefined
}

/** A text in a reply. */
export function textOf(reply: Reply | undefined): string | undefined {
  return reply instanceof Buffer ? reply.toString() : undefined
}
