import { type Clock, QuotaError } from '@scoregw/quota'
import { storeSchema } from '@scoregw/quota/internal'
import type { AsyncStore, QuotaStore, SettingsStore } from '@scoregw/quota/store'
import { redisBroadcast, redisStore } from '@scoregw/quota-redis'
import { postgresStore, sqliteStore } from '@scoregw/quota-sql'
import { Cluster, Redis } from 'ioredis'
import type { Chore } from '../chores.ts'
import { countersPool } from '../db/postgres.ts'
import { COUNTERS, type Db } from '../db/schema.ts'
import { connectionOf } from '../db/sqlite.ts'
import type { Logger } from '../log/logger.ts'
import { ConfigError } from '../start/start-error.ts'
import { policy } from './policy.ts'
import { clusterAddress, redisAddress } from './redis-url.ts'
import { BroadcastSettings, settingsOn } from './settings.ts'

/** The same as the work's own wait for a locked file. No other store could answer. */
const SQLITE_DEADLINE_MS = 5_000
/** The same as that of settings in this database. */
const POSTGRES_DEADLINE_MS = 1_000
/** The prefix of all keys in Redis. */
const REDIS_PREFIX = 'gateway'

/** Where tokens are counted, and where the settings are. */
export interface Counters {
  /** For people, without credentials. */
  readonly name: string
  readonly store: QuotaStore
  readonly settings: SettingsStore
  /** Whether they are in the work's database, so that requests are charged in the transactions of their work. */
  readonly inTransaction: boolean
  /** Tells whether the counters answer. Absent if they are in the process's own file. */
  readonly watch?: CountersWatch | undefined
  readonly chores: readonly Chore[]
  /**
   * Call it after an engine was made with the store.
   *
   * @throws {ConfigError} if the store isn't safe to use
   */
  begin(): Promise<void>
  /** Call it after the engine has closed. */
  close(): Promise<void>
}

export interface CountersOptions {
  readonly db: Db
  readonly clock: Clock
  readonly logger: Logger
  /** Addresses of the stores contain credentials: never show them. */
  readonly config: {
    readonly DATABASE_URL?: string | undefined
    readonly REDIS_URL?: string | undefined
    /** How long a decision waits for Redis. */
    readonly REDIS_DEADLINE_MS: number
  }
}

/** Counters in the embedded database, in PostgreSQL with `DATABASE_URL`, in Redis with `REDIS_URL`. */
export function countersOf(options: CountersOptions): Counters {
  const { DATABASE_URL, REDIS_URL } = options.config
  if (REDIS_URL !== undefined) return inRedis(REDIS_URL, options)
  return DATABASE_URL === undefined ? embedded(options) : inPostgres(DATABASE_URL, options)
}

/**
 * In the embedded database. Each charge is written to the file before its caller gets a response. A killed process
 * therefore loses nothing, and processes that share the file decide together. A power cut may lose the last charges,
 * because callers don't wait for the disk.
 */
function embedded({ db, clock }: CountersOptions): Counters {
  const database = connectionOf(db)
  if (database === undefined) throw new Error('the database is not the embedded one')
  return {
    name: 'embedded database',
    store: sqliteStore({
      ...{ database, db, prefix: COUNTERS, clock },
      synchronous: 'normal',
      deadlineMs: SQLITE_DEADLINE_MS,
    }),
    settings: settingsOn(db, clock),
    inTransaction: true,
    chores: [],
    begin: () => Promise.resolve(),
    close: () => Promise.resolve(),
  }
}

/**
 * In PostgreSQL, shared by all processes with the same database. Requests that are charged before their work have a
 * pool of their own, so that they don't wait for transactions.
 */
function inPostgres(url: string, { db, clock, logger }: CountersOptions): Counters {
  const pool = countersPool(url)
  const store = postgresStore({ pool, prefix: COUNTERS, deadlineMs: POSTGRES_DEADLINE_MS })
  const watch = new CountersWatch('PostgreSQL', reading(store), logger)
  return {
    name: 'PostgreSQL',
    store,
    settings: settingsOn(db, clock),
    inTransaction: true,
    watch,
    chores: [watch.chore],
    async begin() {
      await watch.check()
    },
    close: () => pool.end(),
  }
}

/**
 * In Redis, shared by all processes with the same one. Settings are in the database, and announced through Redis. On a
 * cluster, all counters are in one slot, so every limit is exact.
 */
function inRedis(url: string, { db, clock, logger, config }: CountersOptions): Counters {
  // Never connects: the store and the broadcast copy its settings for connections of their own.
  const client = clientOf(url)
  const prefix = REDIS_PREFIX
  const store = redisStore({ client, prefix, deadlineMs: config.REDIS_DEADLINE_MS, logger })
  const watch = new CountersWatch('Redis', reading(store), logger)
  return {
    name: `Redis ${redisAddress(url)}`,
    store,
    settings: new BroadcastSettings(settingsOn(db, clock), redisBroadcast({ client, prefix }), logger),
    inTransaction: false,
    watch,
    chores: [watch.chore],
    async begin() {
      await refuseUnsafe(() => store.ready())
      if (await watch.check()) return
      logger.warn(`REDIS_URL=${redisAddress(url)}: no Redis answers there; start it, or correct the address`)
    },
    close: () => Promise.resolve(),
  }
}

function clientOf(url: string): Redis | Cluster {
  const cluster = clusterAddress(url)
  if (cluster === undefined) return new Redis(url, { lazyConnect: true })
  const { nodes, username, password, tls } = cluster
  const redisOptions = { username, password, ...(tls ? { tls: {} } : {}) }
  return new Cluster([...nodes], { lazyConnect: true, redisOptions })
}

/** Rejects a server that may evict counters. One that is unavailable may come back, so it is accepted. */
async function refuseUnsafe(ready: () => Promise<unknown>): Promise<void> {
  try {
    await ready()
  } catch (error) {
    if (!(error instanceof QuotaError) || error.code !== 'unsafe_eviction') return
    throw new ConfigError([`REDIS_URL: ${error.message}`], { cause: error })
  }
}

/** Reads counters as a decision does. Changes nothing. */
function reading(store: AsyncStore): () => Promise<void> {
  const counters = store.open(storeSchema(policy))
  return async () => void (await counters.read({ subject: 'nobody', set: 0, layers: [0] }))
}

/** How often to check the counters, for the log. */
const EVERY_MS = 1_000

/** Checks counters on another server. Logs when they become unavailable, and when they are back, once each. */
export class CountersWatch {
  /** The server, for people. */
  readonly name: string
  readonly chore: Chore = {
    what: 'checking whether the counters are available',
    everyMs: EVERY_MS,
    run: async () => void (await this.check()),
  }
  readonly #read: () => Promise<void>
  readonly #logger: Logger
  #isAway = false

  /** @param read rejects if the counters are unavailable */
  constructor(name: string, read: () => Promise<void>, logger: Logger) {
    this.name = name
    this.#read = read
    this.#logger = logger
  }

  /** Rejects if the counters are unavailable. */
  read(): Promise<void> {
    return this.#read()
  }

  /**
   * Checks the counters, and logs a change. Never rejects.
   *
   * @returns whether they are available
   */
  async check(): Promise<boolean> {
    const wasAway = this.#isAway
    try {
      await this.#read()
      this.#isAway = false
      if (wasAway) this.#logger.info(`${this.name} answers again`)
    } catch (error) {
      this.#isAway = true
      // Its stack would not help.
      const reason = error instanceof Error ? error.message : String(error)
      if (!wasAway) {
        this.#logger.error({ reason }, `${this.name} does not answer: requests are decided by QUOTA_FAILURE_POLICY`)
      }
    }
    return !this.#isAway
  }
}
