import { QuotaError, type Subject } from '@scoregw/quota'
import { type AsyncCounters, storeSchema } from '@scoregw/quota/store'
import { type RedisStore, redisBroadcast, redisStore } from '@scoregw/quota-redis'
import { Cluster, Redis } from 'ioredis'
import { ConfigError } from '../start/start-error.ts'
import { type BackendOptions, type QuotaBackend, StoreWatch } from './backend.ts'
import { BroadcastSettings } from './broadcast-settings.ts'
import { subjectsOf } from './layer-members.ts'
import { type ConfiguredLimits, checkConfigured } from './policy.ts'
import { clusterAddress, redisAddress } from './redis-url.ts'
import { settingsOn } from './settings.ts'

/** The prefix of all keys. */
const PREFIX = 'gateway'
/** How often to check Redis, for the log. */
const WATCH_MS = 1_000

export interface RedisBackendOptions extends BackendOptions {
  readonly url: string
  /** How long a decision waits for Redis. */
  readonly deadlineMs: number
  /** Limits that the configuration adds. */
  readonly limits: ConfiguredLimits
}

/**
 * Counters in Redis, shared by all processes with the same one. Settings are in the database, and announced through
 * Redis. On a cluster, all counters are in one slot, so every limit is exact.
 *
 * @throws {ConfigError} for limits that these counters don't support
 */
export function redisBackend(given: RedisBackendOptions): QuotaBackend {
  const { db, clock, url, deadlineMs, logger, policy, limits, changes } = given
  // Never connects: the store and the broadcast copy its settings for connections of their own.
  const client = clientOf(url)
  const store = redisStore({ client, prefix: PREFIX, deadlineMs, logger })
  checkConfigured(limits, store)
  const settings = new BroadcastSettings(
    settingsOn(db, clock, changes),
    redisBroadcast({ client, prefix: PREFIX }),
    logger,
  )
  const counters = store.open(storeSchema(policy))
  const probe = subjectsOf(policy)('nobody')
  const check = () => readCounters(counters, probe)
  const watch = new StoreWatch('Redis', check, logger)
  return {
    name: `Redis ${redisAddress(url)}`,
    store,
    settings,
    chores: [
      { what: 'checking whether Redis is available', everyMs: WATCH_MS, run: async () => void (await watch.check()) },
    ],
    check,
    checked: 'Redis',
    async begin() {
      await refuseUnsafe(store)
      if (await watch.check()) return
      logger.warn(`REDIS_URL=${redisAddress(url)}: no Redis answers there; start it, or correct the address`)
    },
    finish: () => Promise.resolve(),
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
async function refuseUnsafe(store: RedisStore): Promise<void> {
  try {
    await store.ready()
  } catch (error) {
    if (!(error instanceof QuotaError) || error.code !== 'unsafe_eviction') return
    throw new ConfigError([`REDIS_URL: ${error.message}`], { cause: error })
  }
}

/** Reads counters as a decision does. Changes nothing. */
async function readCounters(counters: AsyncCounters, subject: Subject): Promise<void> {
  await counters.read({ subject, categories: [0], layers: [0] })
}
