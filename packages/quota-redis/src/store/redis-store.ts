import {
  QuotaError,
  type QuotaStore,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota'
import type { OwnClient } from '../client/client-types.ts'
import { ownClient } from '../client/own-client.ts'
import { Lane } from './lane.ts'
import { type ParsedRedisStoreOptions, parseRedisStoreOptions, type RedisStoreOptions } from './options.ts'
import { Turn } from './turn.ts'

/** A {@link QuotaStore} on one Redis, where many processes share the counters. */
export interface RedisStore extends QuotaStore {
  readonly sync: false
  /** @throws {QuotaError} `store_error` when the call was not answered in time, or nobody knows what became of it */
  take(request: TakeRequest): Promise<TakeReply>
  /** @throws {QuotaError} `store_error` */
  read(request: ReadRequest): Promise<ReadReply>
  /** @throws {QuotaError} `store_error`; the tokens may have been given back all the same */
  settle(request: SettleRequest): Promise<void>
  /** @throws {QuotaError} `store_error`; the windows may have been closed all the same */
  reset(request: ResetRequest): Promise<void>
  /**
   * Resolves when the server is connected and may be used. Calls need not wait for it.
   * @throws {QuotaError} `store_error` when it cannot be reached now, `unsafe_eviction`
   */
  ready(): Promise<void>
  /** Waits for the calls under way, a deadline at most, and leaves nothing open. Later calls reject. */
  close(): Promise<void>
}

/**
 * Counters in Redis or Valkey, exact for any number of processes: each decision is made by one script, on the server's
 * clock, over all windows at once.
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
  readonly #options: ParsedRedisStoreOptions
  readonly #connection: OwnClient
  #schema: StoreSchema | undefined
  #lane: Lane | undefined
  #closing: Promise<void> | undefined

  constructor(options: ParsedRedisStoreOptions) {
    const { client, prefix, evictionPolicy, logger } = options
    this.#options = options
    this.#connection = ownClient(client, { key: `{${prefix}}`, evictionPolicy, logger })
  }

  attach(schema: StoreSchema): void {
    this.#schema = sameSchema(this.#schema, schema)
    const { prefix, deadlineMs, testClock } = this.#options
    const turn = new Turn((send) => send())
    this.#lane ??= new Lane({ connection: this.#connection, prefix, schema, deadlineMs, testClock, turn })
  }

  take(request: TakeRequest): Promise<TakeReply> {
    return this.#lane!.take(request)
  }

  read(request: ReadRequest): Promise<ReadReply> {
    return this.#lane!.read(request)
  }

  async settle(request: SettleRequest): Promise<void> {
    await this.#lane!.settle(request)
  }

  reset(request: ResetRequest): Promise<void> {
    return this.#lane!.reset(request)
  }

  ready(): Promise<void> {
    return this.#connection.ready()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#lane?.close()
    this.#connection.close()
  }
}

/** @throws {QuotaError} `store_mismatch` */
export function sameSchema(known: StoreSchema | undefined, schema: StoreSchema): StoreSchema {
  if (known === undefined || JSON.stringify(known) === JSON.stringify(schema)) return schema
  const message = 'this Redis store already serves a policy with other windows, categories or layers'
  throw new QuotaError('store_mismatch', message)
}
