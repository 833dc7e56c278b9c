import type {
  AsyncCounters,
  AsyncStore,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  StoreAbilities,
  StoreSchema,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import { Tick } from '../calls/calls.ts'
import type { Connection } from '../connection/connection.ts'
import { connectionTo } from '../connection/connections.ts'
import { type Counters, openCounters } from '../counters/counters.ts'
import type { RedisHolds } from '../counters/redis-holds.ts'
import { type ParsedRedisStoreOptions, parseRedisStoreOptions, type RedisStoreOptions } from './options.ts'
import { placeOf } from './place.ts'

/** Counters of one policy in Redis. */
export interface RedisCounters extends AsyncCounters {
  /**
   * @throws {QuotaError} `store_error` if there was no answer in time, or the outcome is unknown; `damaged_row` if a
   * row or record that it needs cannot be read
   */
  take(request: TakeRequest): Promise<TakeReply>
  /** @throws {QuotaError} `store_error`, `damaged_row` */
  read(request: ReadRequest): Promise<ReadReply>
  /** @throws {QuotaError} `store_error`, although the tokens may have been refunded; `damaged_row` */
  settle(request: SettleRequest): Promise<void>
  /**
   * Also repairs rows that cannot be read. @throws {QuotaError} `store_error`, although the windows may have been
   * closed
   */
  reset(request: ResetRequest): Promise<void>
  readonly holds?: RedisHolds | undefined
}

/** An {@link AsyncStore} on one Redis, whose counters many processes share. */
export interface RedisStore extends AsyncStore {
  readonly sync: false
  readonly deadlineMs: number
  /** A policy's counters. Several can be open at the same time; counters with the same names are the same. */
  open(schema: StoreSchema): RedisCounters
  /**
   * Resolves when the server is connected and usable. Calls need not wait for it.
   *
   * @throws {QuotaError} `store_error` if it cannot be reached now, `unsafe_eviction`
   */
  ready(): Promise<void>
  /** Waits for calls in flight, at most one deadline, then closes everything. Later calls reject. */
  close(): Promise<void>
}

/**
 * Counters in Redis or Valkey, exact for any number of processes: each decision is made by one script, on the server's
 * clock, over all windows together.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const store = redisStore({ client: new Redis() })
 * const quota = createQuota({ policy: defaultPolicy(), store })
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  return new Store(parseRedisStoreOptions(options))
}

class Store implements RedisStore {
  readonly sync = false
  readonly can: StoreAbilities = { calendar: true, holds: true, concurrency: 'all', fit: true, bucket: true }
  readonly deadlineMs: number
  readonly place: string | undefined
  readonly #options: ParsedRedisStoreOptions
  readonly #connection: Connection
  readonly #tick = new Tick((send) => send())
  readonly #counters: Counters[] = []
  #closing: Promise<void> | undefined

  constructor(options: ParsedRedisStoreOptions) {
    const { client, prefix, deadlineMs } = options
    this.deadlineMs = deadlineMs
    this.place = placeOf(client, prefix)
    this.#options = options
    this.#connection = connectionTo(client, `{${prefix}}`, options)
  }

  get opening(): Promise<void> | undefined {
    return this.#connection.opening
  }

  open(schema: StoreSchema): RedisCounters {
    const { prefix, deadlineMs, testClock } = this.#options
    const counters = openCounters({
      connection: this.#connection,
      prefix,
      schema,
      deadlineMs,
      testClock,
      tick: this.#tick,
    })
    // With a manual clock no timers are used.
    if (testClock === undefined) counters.holds.sweeper.start()
    if (this.#closing !== undefined) void counters.close()
    this.#counters.push(counters)
    return {
      take: (request) => counters.take(request),
      read: (request) => counters.read(request),
      settle: (request) => counters.settle(request).then(() => undefined),
      reset: (request) => counters.reset(request),
      holds: counters.holds,
    }
  }

  ready(): Promise<void> {
    return this.#connection.ready()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.all(this.#counters.map((counters) => counters.close()))
    this.#connection.close()
  }
}
