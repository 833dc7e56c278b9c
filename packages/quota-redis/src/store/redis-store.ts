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
import { type Connection, isNodeRedis, type RedisClient } from '../connection/connection.ts'
import { connectionTo } from '../connection/connections.ts'
import { CAN, OpenedCounters } from '../counters/counters.ts'
import { type ParsedRedisStoreOptions, parseStoreOptions, type RedisStoreOptions } from './options.ts'
import { scriptRunner, tryRights } from './rights.ts'

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
}

/** An {@link AsyncStore} on one Redis, whose counters many processes share. */
export interface RedisStore extends AsyncStore {
  readonly sync: false
  readonly deadlineMs: number
  /** A policy's counters. Several can be open at the same time; counters with the same names are the same. */
  open(schema: StoreSchema): RedisCounters
  /**
   * Resolves when the server is connected and its user has the rights that calls need. Calls need not wait for it.
   *
   * @throws {QuotaError} `store_error` if it cannot be reached now, or naming what it refuses; `unsafe_eviction`
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
 * const quota = createQuota({ limits: { perMinute: { by: 'user', limit: 60, per: '1m' } }, store })
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  return new Store(parseStoreOptions('redisStore()', options))
}

class Store implements RedisStore {
  readonly sync = false
  readonly can: StoreAbilities = CAN
  readonly deadlineMs: number
  readonly place: string | undefined
  readonly #prefix: string
  readonly #connection: Connection
  readonly #counters: OpenedCounters
  /** With a manual clock no timers are used. */
  readonly #isTimed: boolean

  constructor(options: ParsedRedisStoreOptions) {
    const { client, prefix, deadlineMs, testClock } = options
    this.deadlineMs = deadlineMs
    this.#prefix = prefix
    this.place = placeOf(client, prefix)
    this.#connection = connectionTo(client, `{${prefix}}`, options)
    this.#counters = new OpenedCounters({ connection: this.#connection, prefix, deadlineMs, testClock })
    this.#isTimed = testClock === undefined
  }

  get opening(): Promise<void> | undefined {
    return this.#connection.opening
  }

  open(schema: StoreSchema): RedisCounters {
    return this.#counters.open(schema, this.#isTimed)
  }

  async ready(): Promise<void> {
    await this.#connection.ready()
    await tryRights(this.#prefix, scriptRunner(this.#connection))
  }

  close(): Promise<void> {
    return this.#counters.close()
  }
}

/** The options of both clients that identify their server. */
interface Given {
  readonly host?: string
  readonly port?: number
  readonly path?: string
  readonly db?: number
  readonly name?: string | null
  readonly sentinels?: readonly { readonly host?: string; readonly port?: number }[] | null
  readonly url?: string
  readonly database?: number
  readonly socket?: { readonly host?: string; readonly port?: number; readonly path?: string }
}

/**
 * A store's server, database and prefix as text without credentials. It is equal for stores that share counters.
 *
 * @returns `undefined` for a cluster, whose nodes are unknown before it is connected
 */
function placeOf(client: RedisClient, prefix: string): string | undefined {
  if ('isCluster' in client && client.isCluster) return undefined
  const given = Object(client.options) as Given
  const server = isNodeRedis(client) ? nodeRedisServer(given) : ioredisServer(given)
  return `redis ${server} ${prefix}`
}

function ioredisServer({ host = 'localhost', port = 6379, path, db = 0, name, sentinels }: Given): string {
  const byName = sentinels?.map((each) => `${each.host}:${each.port}`).join()
  return `${byName ? `${byName} ${name}` : (path ?? `${host}:${port}`)} ${db}`
}

function nodeRedisServer({ url, socket = {}, database }: Given): string {
  const { hostname, port, pathname } = url !== undefined && URL.canParse(url) ? new URL(url) : {}
  const host = socket.host ?? (hostname || 'localhost')
  return `${socket.path ?? `${host}:${socket.port ?? (port || 6379)}`} ${database ?? (pathname?.slice(1) || 0)}`
}
