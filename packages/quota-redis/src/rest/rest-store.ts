import type {
  AsyncHolds,
  AsyncSettingsStore,
  EndedHold,
  StoreAbilities,
  StoreSchema,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import { CAN, OpenedCounters } from '../counters/counters.ts'
import { SettingsKeys } from '../settings/keyed-settings.ts'
import type { RedisCounters, RedisStore } from '../store/redis-store.ts'
import { tryRights } from '../store/rights.ts'
import { type ParsedRestOptions, parseRestOptions, type RedisRestStoreOptions } from './options.ts'
import { RestRedis } from './rest-redis.ts'
import { RestSettings } from './rest-settings.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)

/** Counters and settings in a Redis that is called over HTTP. */
export interface RedisRestStore extends RedisStore {
  /** The settings in the same database: `createQuota({ policy, store, settingsStore: store.settings })`. */
  readonly settings: AsyncSettingsStore
}

/**
 * Counters in a Redis or Valkey that is reached by HTTP, in Upstash's protocol. It makes the same decisions on the same keys as
 * `redisStore()`. Nothing polls. A take that may have been carried out is sent again only under an id.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const store = redisRestStore({ url: env.UPSTASH_REDIS_REST_URL, token: env.UPSTASH_REDIS_REST_TOKEN })
 * const quota = createQuota({ limits: { perMinute: { by: 'user', limit: 60, per: '1m' } }, store })
 */
export function redisRestStore(options: RedisRestStoreOptions): RedisRestStore {
  return new Store(parseRestOptions(options))
}

/** The shortest time between two sweeps of expired holds, in milliseconds. */
const SWEEP_EVERY_MS = 1_000
/** How many ended holds are kept until they are read. */
const MAX_ENDED = 1_000

class Store implements RedisRestStore {
  readonly sync = false
  readonly can: StoreAbilities = CAN
  readonly deadlineMs: number
  readonly place: string
  readonly settings: RestSettings
  readonly #prefix: string
  readonly #redis: RestRedis
  readonly #counters: OpenedCounters
  /** Without timers a test decides when to sweep. */
  readonly #sweeps: boolean

  constructor(options: ParsedRestOptions) {
    const { url, prefix, deadlineMs, logger, testClock } = options
    const keys = new SettingsKeys(prefix)
    this.deadlineMs = deadlineMs
    this.place = `redis ${url} ${prefix}`
    this.#prefix = prefix
    this.#redis = new RestRedis(options, keys.changes, (last) => this.settings.noted(last))
    this.settings = new RestSettings(this.#redis, keys, logger)
    this.#counters = new OpenedCounters({ connection: this.#redis, prefix, deadlineMs, testClock })
    this.#sweeps = testClock === undefined
  }

  open(schema: StoreSchema): RedisCounters {
    const counters = this.#counters.open(schema)
    const { holds } = counters
    const sweeps = new SweepsOnUse(holds, schema, this.#sweeps)
    return {
      take: (request) => sweeps.around(request, () => counters.take(request)),
      read: (request) => counters.read(request),
      settle: (request) => counters.settle(request),
      reset: (request) => counters.reset(request),
      holds: {
        extend: (request) => holds.extend(request),
        grow: (request) => holds.grow(request),
        settle: (request) => holds.settle(request),
        list: (request) => holds.list(request),
        sweep: async () => {
          const { open, ended } = await holds.sweep()
          return { open, ended: [...sweeps.drain(), ...ended] }
        },
      },
    }
  }

  ready(): Promise<void> {
    return tryRights(this.#prefix, (script, key) => this.#redis.evaluate(script, ['1', key]))
  }

  close(): Promise<void> {
    return this.#counters.close()
  }
}

/** Refunds expired holds when a take is made, since there is no timer. */
class SweepsOnUse {
  readonly #holds: Pick<AsyncHolds, 'sweep'>
  readonly #isOn: boolean
  readonly #ended: EndedHold[] = []
  #hasHolds: boolean
  #sweptAtMs = Number.NEGATIVE_INFINITY

  constructor(holds: Pick<AsyncHolds, 'sweep'>, { layers }: StoreSchema, isOn: boolean) {
    this.#holds = holds
    this.#isOn = isOn
    this.#hasHolds = layers.some(({ cells }) => cells.some(({ kind }) => kind === 'concurrency'))
  }

  /**
   * Sweeps during a take, if it is due. A take that was refused before the sweep refunded something is repeated once.
   */
  async around(request: TakeRequest, take: () => Promise<TakeReply>): Promise<TakeReply> {
    this.#hasHolds ||= request.hold !== undefined
    const sweeping = this.#isOn && this.#hasHolds && this.#isDue() ? this.#sweep() : undefined
    const reply = await take()
    const isRefused = reply.outcome === 'refused' || reply.outcome === 'too_many_holds'
    return (await sweeping) === true && isRefused ? take() : reply
  }

  drain(): readonly EndedHold[] {
    return this.#ended.splice(0)
  }

  #isDue(): boolean {
    const nowMs = steadyMs()
    if (nowMs - this.#sweptAtMs < SWEEP_EVERY_MS) return false
    this.#sweptAtMs = nowMs
    return true
  }

  /** Whether anything was refunded. A failed sweep is followed by the next. */
  async #sweep(): Promise<boolean> {
    const { ended } = await this.#holds.sweep().then(
      (reply) => reply,
      () => ({ ended: [] }),
    )
    this.#ended.push(...ended.slice(0, MAX_ENDED - this.#ended.length))
    return ended.length > 0
  }
}
