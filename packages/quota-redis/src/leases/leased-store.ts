import { randomUUID } from 'node:crypto'
import type {
  QuotaStore,
  Quotas,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleRequest,
  StoreSchema,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota'
import type { Redis } from 'ioredis'
import type { OwnClient } from '../client/client-types.ts'
import { type OwnClients, ownClients } from '../client/own-client.ts'
import { Deadline } from '../store/deadline.ts'
import { isNotDone, notDone, storeError } from '../store/errors.ts'
import { Lane } from '../store/lane.ts'
import { type ParsedRedisStoreOptions, parseRedisStoreOptions, type RedisStoreOptions } from '../store/options.ts'
import { type RedisStore, sameSchema } from '../store/redis-store.ts'
import { Turn } from '../store/turn.ts'
import { groupOf, groupPrefixes } from './groups.ts'
import { elapsedMs, momentBy } from './lease.ts'
import { LeaseCounts, type LeaseReport } from './lease-report.ts'
import { joined, partsOf, type QuotaParts, quotaParts, rowsOf, statesOf } from './parts.ts'
import { ReplicaCount } from './replica-count.ts'
import type { SiteAnswer } from './site-answer.ts'
import { SiteCalls } from './site-calls.ts'
import { SitePool } from './site-pool.ts'
import { startsOf } from './site-rows.ts'

/** A {@link RedisStore} that spends shared tokens from leases. */
export interface LeasedRedisStore extends RedisStore {
  /** What leases came to in this process. */
  leases(): LeaseReport
}

/**
 * Counters in a cluster, spread over its servers: the rows of a subject are in a slot of the subject's, and the rows that
 * everybody shares are debited ahead, for this process to spend without asking. No limit is exceeded; of a shared limit a
 * little may stay unused, see the guide. Options are those of `redisStore`.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const store = leasedRedisStore({ client: new Cluster([{ host: '10.0.0.1', port: 6379 }]) })
 * const quota = createQuota({ policy: defaultPolicy(), store })
 */
export function leasedRedisStore(options: RedisStoreOptions): LeasedRedisStore {
  return new Store(parseRedisStoreOptions(options))
}

class Store implements LeasedRedisStore, QuotaStore {
  readonly sync = false
  readonly #options: ParsedRedisStoreOptions
  /** Beginnings of keys, by group. */
  readonly #groups: readonly string[]
  readonly #process = randomUUID()
  readonly #clients: OwnClients
  /** Of its own: waiting for replicas holds up what comes behind. */
  readonly #siteClients: OwnClients
  /** Of the site and of every group. */
  readonly #servers: readonly OwnClient[]
  readonly #calls: (schema: StoreSchema) => SiteCalls
  readonly #counts = new LeaseCounts()
  /** One for all lanes: what goes to the same server is one write. */
  readonly #turn: Turn
  /** By group; the site's is -1. */
  readonly #lanes = new Map<number, Lane>()
  /** By category and shared layers. */
  readonly #pools = new Map<string, SitePool>()
  readonly #parts = new WeakMap<Quotas, QuotaParts>()
  #schema: StoreSchema | undefined
  #siteCalls: SiteCalls | undefined
  #leaseCount = 0
  #closing: Promise<void> | undefined

  constructor(options: ParsedRedisStoreOptions) {
    const { client, prefix, evictionPolicy, logger, deadlineMs, testClock } = options
    const site = `{${prefix}}`
    this.#options = options
    this.#groups = groupPrefixes(prefix)
    this.#clients = ownClients(client, { evictionPolicy, logger })
    this.#siteClients = ownClients(client, { evictionPolicy, logger })
    this.#turn = new Turn((send) => this.#clients.together(send))
    const connection = this.#siteClients.of(site)
    const counted = new ReplicaCount()
    const replicas = client.isCluster ? (redis: Redis) => counted.of(redis) : () => Promise.resolve(0)
    const process = this.#process
    this.#calls = (schema) => new SiteCalls({ connection, replicas, schema, deadlineMs, testClock, process })
    // Asked for from the start, so that all servers are connected when they are needed.
    this.#servers = [site, ...this.#groups.map((name) => `{${name}}`)]
      .map((tag) => this.#clients.of(tag))
      .concat(connection)
  }

  attach(schema: StoreSchema): void {
    this.#schema = sameSchema(this.#schema, schema)
    this.#siteCalls ??= this.#calls(schema)
  }

  take(request: TakeRequest): Promise<TakeReply> {
    if (this.#closing !== undefined) return Promise.reject(notDone(storeError('this Redis store was closed')))
    const parts = this.#partsOf(request.quotas)
    if (parts.shared.length === 0) return this.#takeOwn(request, parts)
    // An id is looked up first: what it was used for before needs nothing of the site.
    if (request.id !== undefined) return this.#inTime(request, this.#takeOwnFirst(request, parts))
    try {
      const site = this.#takeSite(request, parts, parts.own.length === 0)
      const isHere = !(site instanceof Promise) && site.outcome === 'charged'
      if (isHere) return this.#takeCharged(request, parts, site)
      return this.#inTime(request, this.#takeAfter(request, parts, site))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async read(request: ReadRequest): Promise<ReadReply> {
    const { subject, categories, layers } = request
    const parts = partsOf(this.#schema!, layers)
    if (parts.shared.length > 0) await Promise.all([...this.#pools.values()].map(({ refreshed }) => refreshed))
    const [own, site] = await Promise.all([
      this.#lane(groupOf(this.#schema!.layers, subject)).read({ subject, categories, layers: parts.own }),
      this.#site().read({ subject, categories, layers: parts.shared }),
    ])
    const states = categories.map((category, index) => {
      const shared = site.states[index]!
      const pool = parts.shared.length === 0 ? undefined : this.#pools.get(poolKey(category, parts.shared))
      return joined(parts, own.states[index]!, withoutIdle(shared, pool))
    })
    return { now: parts.own.length === 0 ? site.now : own.now, states }
  }

  async settle(request: SettleRequest): Promise<void> {
    const { subject, category, giveBack } = request
    const parts = partsOf(this.#schema!, request.layers)
    const own = { ...request, layers: parts.own, states: rowsOf(this.#schema!, request.states, parts.ownAt) }
    const hasOwn = parts.own.length > 0 || request.id !== undefined
    const isMine = !hasOwn || (await this.#lane(groupOf(this.#schema!.layers, subject)).settle(own))
    if (!isMine || giveBack === 0 || parts.shared.length === 0) return
    const states = rowsOf(this.#schema!, request.states, parts.sharedAt)
    const pool = this.#pool(category, parts.shared)
    if (giveBack > 0) await pool.putBack(startsOf(states), giveBack)
    else await this.#site().settle({ ...request, layers: parts.shared, states, id: undefined })
  }

  async reset(request: ResetRequest): Promise<void> {
    const { own, shared } = partsOf(this.#schema!, request.layers)
    const lane = this.#lane(groupOf(this.#schema!.layers, request.subject))
    if (own.length > 0) await lane.reset({ ...request, layers: own })
    if (shared.length === 0) return
    await this.#site().reset({ ...request, layers: shared })
    for (const pool of this.#pools.values()) pool.forget()
  }

  async ready(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.ready()))
  }

  leases(): LeaseReport {
    const leases = [...this.#pools.values()].flatMap((pool) => pool.leases)
    const { grants, localDecisions, strandedTokens, underUseAtFirstDenial, overshootTokens, counterLosses } =
      this.#counts
    return {
      outstandingLeases: leases.length,
      idleTokens: leases.reduce((sum, { tokens }) => sum + tokens, 0),
      grants,
      localDecisions,
      strandedTokens,
      underUseAtFirstDenial,
      overshootTokens,
      counterLosses,
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const limit = new Deadline(this.#options.deadlineMs, () => undefined)
    const returned = Promise.all([...this.#pools.values()].map((pool) => pool.close()))
    await Promise.race([returned, limit.settled])
    limit.met()
    await Promise.all([...this.#lanes.values()].map((lane) => lane.close()))
    this.#clients.close()
    this.#siteClients.close()
  }

  #site(): Lane {
    return this.#laneAt(-1, this.#options.prefix)
  }

  #lane(group: number): Lane {
    return this.#laneAt(group, this.#groups[group]!)
  }

  #laneAt(group: number, prefix: string): Lane {
    const known = this.#lanes.get(group)
    if (known !== undefined) return known
    const { deadlineMs, testClock } = this.#options
    const connection = this.#clients.of(`{${prefix}}`)
    const lane = new Lane({ connection, prefix, schema: this.#schema!, deadlineMs, testClock, turn: this.#turn })
    this.#lanes.set(group, lane)
    return lane
  }

  #pool(category: number, layers: readonly number[]): SitePool {
    const key = poolKey(category, layers)
    const known = this.#pools.get(key)
    if (known !== undefined) return known
    const { keys } = this.#site()
    const { testClock } = this.#options
    const pool = new SitePool({
      calls: this.#siteCalls!,
      keys: {
        settingsVersion: keys.settingsVersion,
        book: keys.book(category, layers),
        rows: layers.map((layer) => keys.row(layer, category, '')),
      },
      lengthsMs: this.#schema!.windows.map(({ lengthMs }) => lengthMs),
      newLeaseId: () => `${this.#process}:${this.#leaseCount++}`,
      moment: () => momentBy(testClock),
      timeAfter: (seen, now) => testClock?.now() ?? seen.now + Math.max(0, Math.floor(elapsedMs(seen.at, now))),
      counts: this.#counts,
      refund: async (starts, giveBack) => {
        const states = statesOf(starts)
        await this.#site().settle({ subject: '', category, layers, states, giveBack, as: 'cancelled' })
      },
    })
    this.#pools.set(key, pool)
    return pool
  }

  /** Several servers are asked, one after the other; the caller waits for one deadline. */
  #inTime(request: TakeRequest, answer: Promise<TakeReply>): Promise<TakeReply> {
    const { deadlineMs } = this.#options
    return new Promise((resolve, reject) => {
      const deadline = new Deadline(deadlineMs, () => {
        reject(storeError(`the servers gave no answer within ${deadlineMs} ms`))
      })
      answer.then(
        (reply) => {
          if (deadline.met()) resolve(reply)
          else if (reply.outcome === 'admitted') this.#giveBackLate(request, reply)
        },
        (error: unknown) => {
          deadline.met()
          reject(error)
        },
      )
    })
  }

  #partsOf(quotas: Quotas): QuotaParts {
    const known = this.#parts.get(quotas)
    if (known !== undefined) return known
    const parts = quotaParts(this.#schema!, quotas)
    this.#parts.set(quotas, parts)
    return parts
  }

  #takeOwn(request: TakeRequest, { ownQuotas }: QuotaParts): Promise<TakeReply> {
    return this.#lane(groupOf(this.#schema!.layers, request.subject)).take({ ...request, quotas: ownQuotas })
  }

  #takeSite(
    { cost, settingsVersion, category }: TakeRequest,
    { shared, sharedQuotas }: QuotaParts,
    mayOpen: boolean,
  ): SiteAnswer | Promise<SiteAnswer> {
    return this.#pool(category, shared).take({ cost, limits: sharedQuotas.limits, settingsVersion, mayOpen })
  }

  async #takeAfter(
    request: TakeRequest,
    parts: QuotaParts,
    asked: SiteAnswer | Promise<SiteAnswer>,
  ): Promise<TakeReply> {
    const site = await asked
    if (site.outcome === 'stale') return { outcome: 'stale', now: site.now, states: [] }
    if (site.outcome === 'would-open') return this.#takeOwnFirst(request, parts)
    if (site.outcome === 'refused') return this.#refusedBySite(request, parts, site)
    return this.#takeCharged(request, parts, site)
  }

  #takeCharged(request: TakeRequest, parts: QuotaParts, site: SiteAnswer): Promise<TakeReply> {
    if (parts.own.length > 0) return this.#takeOwnAfter(request, parts, site)
    return Promise.resolve({ outcome: 'admitted', now: site.now, states: site.states })
  }

  /** The shared tokens are this request's; what it does not need goes back, but not where nobody knows. */
  async #takeOwnAfter(request: TakeRequest, parts: QuotaParts, site: SiteAnswer): Promise<TakeReply> {
    const pool = this.#pool(request.category, parts.shared)
    const putBack = () => pool.putBack(startsOf(site.states), request.cost)
    let own: TakeReply
    try {
      own = await this.#takeOwn(request, parts)
    } catch (error) {
      if (isNotDone(error)) await putBack().catch(() => this.#strand(request.cost))
      else this.#strand(request.cost)
      throw error
    }
    if (own.outcome === 'admitted') return { ...own, states: joined(parts, own.states, site.states) }
    await putBack().catch(() => this.#strand(request.cost))
    const states = own.outcome === 'refused' ? joined(parts, own.states, without(site.states, request.cost)) : []
    return { ...own, states }
  }

  /** Charges the own rows, then the shared ones; where those refuse, the own rows become as they were. */
  async #takeOwnFirst(request: TakeRequest, parts: QuotaParts): Promise<TakeReply> {
    const own = await this.#takeOwn(request, parts)
    if (own.outcome === 'refused') return this.#refusedByOwn(request, parts, own)
    if (own.outcome !== 'admitted') return own
    let site: SiteAnswer
    try {
      site = await this.#takeSite(request, parts, true)
    } catch (error) {
      // Nothing was charged at the site, or nobody knows: the caller is turned away either way.
      await this.#undo(request, parts, own).catch(() => undefined)
      throw error
    }
    if (site.outcome === 'charged') return { ...own, states: joined(parts, own.states, site.states) }
    await this.#undo(request, parts, own)
    if (site.outcome === 'refused') return this.#refusedBySite(request, parts, site)
    return { outcome: 'stale', now: site.now, states: [] }
  }

  async #undo(
    { subject, category, cost, id }: TakeRequest,
    parts: QuotaParts,
    { now, states }: TakeReply,
  ): Promise<void> {
    const lane = this.#lane(groupOf(this.#schema!.layers, subject))
    await lane.undo({ subject, category, layers: parts.own, states, giveBack: cost, as: 'cancelled', id }, now)
  }

  /** A refusal names every window that refuses, of the own rows as well, so that waiting as long as it says helps. */
  async #refusedBySite(request: TakeRequest, parts: QuotaParts, site: SiteAnswer): Promise<TakeReply> {
    if (parts.own.length === 0) return { outcome: 'refused', now: site.now, states: site.states }
    // A decision under limits of 0: it charges nothing, and like every refusal moves windows that a fast clock opened.
    const quotas = parts.nothing
    const lane = this.#lane(groupOf(this.#schema!.layers, request.subject))
    const own = await lane.take({ ...request, quotas, id: undefined })
    return { outcome: 'refused', now: site.now, states: joined(parts, own.states, site.states) }
  }

  /** The same for the shared rows. */
  async #refusedByOwn({ category, subject }: TakeRequest, parts: QuotaParts, own: TakeReply): Promise<TakeReply> {
    const site = await this.#site().read({ subject, categories: [category], layers: parts.shared })
    return {
      ...own,
      states: joined(parts, own.states, withoutIdle(site.states[0]!, this.#pool(category, parts.shared))),
    }
  }

  /** An admission whose caller was turned away before it arrived. */
  #giveBackLate({ subject, category, quotas, cost, id }: TakeRequest, { states }: TakeReply): void {
    const { layers } = quotas
    this.settle({ subject, category, layers, states, giveBack: cost, as: 'cancelled', id }).catch(() => {
      this.#strand(cost)
    })
  }

  #strand(tokens: number): void {
    this.#counts.strandedTokens += tokens
  }
}

function poolKey(category: number, layers: readonly number[]): string {
  return `${category}:${layers.join()}`
}

function without(states: readonly number[], tokens: number): number[] {
  return states.map((value, index) => (index % 2 === 1 ? Math.max(0, value - tokens) : value))
}

/** What is used as far as this process knows: without the tokens that lie idle in its leases. */
function withoutIdle(states: readonly number[], pool: SitePool | undefined): readonly number[] {
  return pool === undefined ? states : without(states, pool.idleIn(startsOf(states)))
}
