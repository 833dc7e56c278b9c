import type { Cluster, Redis } from 'ioredis'
import type { EvictionPolicy, RedisLogger } from './eviction-policy.ts'

/** A client of one server, or of a cluster. */
export type RedisClient = Redis | Cluster

/** How a store's own connection behaves. */
export interface OwnClientOptions {
  /** One of the store's keys, all of which are in one slot: on a cluster it says which server is meant. */
  readonly key: string
  /** Checked at every connect. @default no check */
  readonly evictionPolicy?: EvictionPolicy | undefined
  /** @default `process.emitWarning` */
  readonly logger?: RedisLogger | undefined
  /** Called when a connection is usable, the first time and after every reconnect. */
  readonly onUsable?: ((redis: Redis) => void) | undefined
}

/** A connection that belongs to one store; on a cluster, to the server that the store's keys are on now. */
export interface OwnClient {
  /**
   * Commands fail at once while it is not usable, and are never sent twice. On a cluster it may be another one later.
   * @throws {QuotaError} `store_error` where it is not known yet; not after {@link ready}
   */
  readonly redis: Redis
  /** Whether it is connected and the server passed the check. */
  readonly usable: boolean
  /**
   * Resolves when it is usable. Waits for the first attempt to connect, and for the first after a break, about a second
   * at most; once an attempt has failed it rejects at once, until a later one succeeds.
   * @throws {QuotaError} `store_error`, `unsafe_eviction`
   */
  ready(): Promise<void>
  /**
   * The server of a cluster that an error reply said to ask for this once, as it does for keys that are on their way
   * there; it has to be told `ASKING` first. Nothing for other errors.
   */
  askedServer(error: unknown): Promise<Redis> | undefined
  /** Leaves nothing open. Commands under way reject. */
  close(): void
}
