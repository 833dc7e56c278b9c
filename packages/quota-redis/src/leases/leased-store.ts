import { randomUUID } from 'node:crypto'
import { QuotaError } from '@scoregw/quota'
import { keyName, layoutOf, nth } from '@scoregw/quota/internal'
import { Deadline, type StoreAbilities, type StoreSchema } from '@scoregw/quota/store'
import { type Connection, type Reply, textIn } from '../connection/connection.ts'
import { type Connections, connectionsOf, isCluster } from '../connection/connections.ts'
import { Counters } from '../counters/counters.ts'
import { type ParsedRedisStoreOptions, parseStoreOptions, type RedisStoreOptions } from '../store/options.ts'
import type { RedisCounters, RedisStore } from '../store/redis-store.ts'
import { scriptRunner, tryRights } from '../store/rights.ts'
import { total } from './amounts.ts'
import { LeaseCounts, type LeaseReport } from './lease-report.ts'
import { LeasedCounters } from './leased-counters.ts'
import { groupPrefixes } from './places.ts'
import { Pools } from './pools.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)

/** A {@link RedisStore} that spends shared tokens from leases. */
export interface LeasedRedisStore extends RedisStore {
  /** A report of this process's leases. */
  leases(): LeaseReport
}

/**
 * Counters in a Redis Cluster, spread over its servers. A subject's rows are in the subject's slot. Shared rows are
 * debited ahead, and this process spends those leases without a call. No limit is exceeded, but a little of a shared
 * limit may stay unused; see the guide. It takes the options of `redisStore()`, but has no holds, no concurrency limits
 * and no `overrun: 'fit'`: for these, use `redisStore()`, which is exact on a cluster too.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const store = leasedRedisStore({ client: new Cluster([{ host: '10.0.0.1', port: 6379 }]) })
 * const quota = createQuota({ limits: { perMinute: { by: 'user', limit: 60, per: '1m' } }, store })
 */
export function leasedRedisStore(options: RedisStoreOptions): LeasedRedisStore {
  return new Store(parseStoreOptions('leasedRedisStore()', options))
}

/** The message for a policy with several layers that aren't shared. */
const ONE_SLOT =
  'this policy has limits by several keys, so all its counters are in one slot: counters of a policy with one key ' +
  'start again'

/** How to get what leases don't support, in the engine's errors. */
const REMEDY = 'use redisStore(), which has it on a cluster too, in one slot'

/** A lease is of whole rows. @throws {QuotaError} `store_unsupported` */
function refusePartOfShared(schema: StoreSchema): void {
  const layout = layoutOf(schema)
  for (const [layer, { name, shared }] of schema.layers.entries()) {
    if (!shared) continue
    const { size } = layout.rowAt(layer)
    const isWhole = schema.sets.every((_, set) => [0, size].includes(layout.countedIn(set, layer).length))
    if (isWhole) continue
    const message = `a request counts in some limits of the shared layer "${name}" and not in others: ${REMEDY}`
    throw new QuotaError('store_unsupported', message)
  }
}

class Store implements LeasedRedisStore {
  readonly sync = false
  readonly can: StoreAbilities = { calendar: true, bucket: true, remedy: REMEDY }
  readonly deadlineMs: number
  readonly #options: ParsedRedisStoreOptions
  /** Key prefixes by group. */
  readonly #groups: readonly string[]
  readonly #connections: Connections
  /** A separate connection, because waiting for replicas delays all commands behind it. */
  readonly #sharedConnections: Connections
  /** The shared layers' server and every group's. */
  readonly #servers: readonly Connection[]
  readonly #counts = new LeaseCounts()
  readonly #pools: Pools
  readonly #counters: LeasedCounters[] = []
  #closing: Promise<void> | undefined

  constructor(options: ParsedRedisStoreOptions) {
    const { client, prefix, deadlineMs, testClock } = options
    const tag = `{${prefix}}`
    this.deadlineMs = deadlineMs
    this.#options = options
    this.#groups = groupPrefixes(prefix)
    this.#connections = connectionsOf(client, options)
    this.#sharedConnections = connectionsOf(client, options)
    const connection = this.#sharedConnections.to(tag)
    const counted = new ReplicaCount()
    const replicas = isCluster(client) ? (server: Connection) => counted.of(server) : () => Promise.resolve(0)
    this.#pools = new Pools({
      connection,
      replicas,
      deadlineMs,
      testClock,
      process: randomUUID(),
      counts: this.#counts,
    })
    // Opened at the start, so that all servers are connected when they are needed.
    this.#servers = [tag, ...this.#groups.map((name) => `{${name}}`)]
      .map((each) => this.#connections.to(each))
      .concat(connection)
  }

  open(schema: StoreSchema): RedisCounters {
    const { prefix, deadlineMs, logger } = this.#options
    refusePartOfShared(schema)
    if (new Set(schema.layers.filter(({ shared }) => !shared).map(keyName)).size > 1) logger.warn(ONE_SLOT)
    const counters = new LeasedCounters({
      schema,
      shared: this.#countersAt(prefix, schema),
      ownOf: (group) => this.#countersAt(nth(this.#groups, group), schema),
      pools: this.#pools,
      deadlineMs,
      counts: this.#counts,
    })
    if (this.#closing !== undefined) void counters.close()
    this.#counters.push(counters)
    return counters
  }

  async ready(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.ready()))
    const prefixes = [this.#options.prefix, ...this.#groups]
    await Promise.all(prefixes.map((prefix, index) => tryRights(prefix, scriptRunner(nth(this.#servers, index)))))
  }

  leases(): LeaseReport {
    const leases = this.#pools.all.flatMap((pool) => pool.leases)
    const idleTokens = leases.reduce((sum, { amounts }) => sum + total(amounts), 0)
    return { outstandingLeases: leases.length, idleTokens, ...this.#counts.seen() }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    for (const counters of this.#counters) counters.stop()
    const limit = new Deadline(this.deadlineMs)
    await Promise.race([Promise.all(this.#pools.all.map((pool) => pool.close())), limit.settled])
    limit.met()
    await Promise.all(this.#counters.map((counters) => counters.close()))
    this.#connections.close()
    this.#sharedConnections.close()
  }

  /** Counters whose keys begin with a prefix, and so are in its slot. */
  #countersAt(prefix: string, schema: StoreSchema): Counters {
    const { deadlineMs, testClock } = this.#options
    const connection = this.#connections.to(`{${prefix}}`)
    return new Counters({ connection, prefix, deadlineMs, testClock }, schema)
  }
}

/** How long a count is used before it is read again, in milliseconds. */
const USED_MS = 1_000

/**
 * How many replicas could take a server's place, according to that server. It counts all replicas known to its cluster
 * and not found to be gone, even if their link is down. The client's slot table omits replicas that have received
 * nothing yet. The server's own count omits replicas that lost their link. Either could take over without a grant.
 */
class ReplicaCount {
  #server: Connection | undefined
  #count = 0
  #atMs = 0
  #reading: Promise<void> | undefined

  /** @throws the client's error if the server does not answer */
  async of(server: Connection): Promise<number> {
    const isKnown = server === this.#server
    if (!isKnown || steadyMs() - this.#atMs >= USED_MS) {
      this.#reading ??= this.#read(server).finally(() => {
        this.#reading = undefined
      })
      // An old count delays no call. A failed read is repeated by the next call.
      if (isKnown) this.#reading.catch(() => undefined)
      else await this.#reading
    }
    return this.#count
  }

  async #read(server: Connection): Promise<void> {
    const id = textIn(await server.send('CLUSTER', 'MYID'))
    const lines = (await server.send('CLUSTER', 'REPLICAS', id)) as readonly Reply[]
    const hasFailed = (line: Reply): boolean => /^\S+ \S+ (?:\S+,)?fail[, ]/.test(textIn(line))
    this.#count = lines.filter((line) => !hasFailed(line)).length
    this.#server = server
    this.#atMs = steadyMs()
  }
}
