import {
  isNotDone,
  type Layout,
  notDone,
  type Quotas,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type Subject,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import { storeError } from '../line/errors.ts'
import { Deadline } from '../store/deadline.ts'
import type { RedisCounters } from '../store/redis-store.ts'
import type { Shard } from '../store/shard.ts'
import { GROUPS, groupOf } from './groups.ts'
import type { LeaseCounts } from './lease-report.ts'
import { joined, type Parts, partsOf, periodParts, type QuotaParts, quotaParts, rowsOf } from './parts.ts'
import type { Pools } from './pools.ts'
import type { SiteAnswer } from './site-answer.ts'
import type { SitePool } from './site-pool.ts'
import { startsOf, without } from './site-rows.ts'

export interface LeasedCountersParts {
  readonly schema: StoreSchema
  readonly site: Shard
  /** Of a group of subjects. */
  readonly shardOf: (group: number) => Shard
  readonly pools: Pools
  readonly deadlineMs: number
  readonly counts: LeaseCounts
}

/** Counters of one policy whose shared layers are leased. */
export class LeasedCounters implements RedisCounters {
  readonly #schema: StoreSchema
  readonly #layout: Layout
  readonly #site: Shard
  readonly #parts: LeasedCountersParts
  /** By group of subjects. */
  readonly #shards: (Shard | undefined)[] = new Array<undefined>(GROUPS).fill(undefined)
  /** By category and shared layers. */
  readonly #pools = new Map<string, SitePool>()
  readonly #quotaParts = new WeakMap<Quotas, QuotaParts>()
  #isClosed = false

  constructor(parts: LeasedCountersParts) {
    this.#parts = parts
    this.#schema = parts.schema
    this.#site = parts.site
    this.#layout = parts.site.keys.layout
  }

  take(request: TakeRequest): Promise<TakeReply> {
    if (this.#isClosed) return Promise.reject(notDone(storeError('this Redis store was closed')))
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
    const parts = partsOf(this.#schema, layers)
    if (parts.shared.length > 0) await Promise.all([...this.#pools.values()].map(({ refreshed }) => refreshed))
    const periods = periodParts(this.#layout, parts, request.periods)
    const [own, site] = await Promise.all([
      this.#shard(subject).read({ subject, categories, layers: parts.own, periods: periods.own }),
      this.#site.read({ subject, categories, layers: parts.shared, periods: periods.shared }),
    ])
    if (own.isStale === true) return own
    if (site.isStale === true) return site
    const states = categories.map((category, index) => {
      const shared = site.states[index]!
      const pool = parts.shared.length === 0 ? undefined : this.#pools.get(poolKey(category, parts.shared))
      return this.#joined(parts, own.states[index]!, withoutIdle(shared, pool))
    })
    return { now: parts.own.length === 0 ? site.now : own.now, states }
  }

  async settle(request: SettleRequest): Promise<void> {
    const { subject, category, giveBack } = request
    const parts = partsOf(this.#schema, request.layers)
    const own = { ...request, layers: parts.own, states: rowsOf(this.#layout, request.states, parts.ownAt) }
    const hasOwn = parts.own.length > 0 || request.id !== undefined
    const isMine = !hasOwn || (await this.#shard(subject).settle(own))
    if (!isMine || giveBack === 0 || parts.shared.length === 0) return
    const states = rowsOf(this.#layout, request.states, parts.sharedAt)
    const pool = this.#pool(category, parts.shared)
    if (giveBack > 0) return pool.putBack(startsOf(states), giveBack)
    await this.#site.settle({ ...request, layers: parts.shared, states, id: undefined })
    pool.forgetDenial()
  }

  async reset(request: ResetRequest): Promise<void> {
    const { own, shared } = partsOf(this.#schema, request.layers)
    if (own.length > 0) await this.#shard(request.subject).reset({ ...request, layers: own })
    if (shared.length === 0) return
    await this.#site.reset({ ...request, layers: shared })
    for (const pool of this.#parts.pools.all) pool.forget()
  }

  /** From here on no decisions are taken on. */
  stop(): void {
    this.#isClosed = true
  }

  /** Waits for the calls under way, a deadline at most; later ones fail. */
  async close(): Promise<void> {
    this.stop()
    const shards = this.#shards.filter((shard) => shard !== undefined)
    await Promise.all([this.#site, ...shards].map((shard) => shard.close()))
  }

  #shard(subject: Subject): Shard {
    const group = groupOf(this.#schema.layers, subject)
    const shard = this.#shards[group] ?? this.#parts.shardOf(group)
    this.#shards[group] = shard
    return shard
  }

  #pool(category: number, layers: readonly number[]): SitePool {
    const key = poolKey(category, layers)
    const pool = this.#pools.get(key) ?? this.#parts.pools.of(this.#site, category, layers)
    this.#pools.set(key, pool)
    return pool
  }

  #joined(parts: Parts, own: readonly number[], shared: readonly number[]): number[] {
    return joined(this.#layout, parts, own, shared)
  }

  /** Several servers are asked, one after the other; the caller waits for one deadline. */
  #inTime(request: TakeRequest, answer: Promise<TakeReply>): Promise<TakeReply> {
    const { deadlineMs } = this.#parts
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
    const known = this.#quotaParts.get(quotas)
    if (known !== undefined) return known
    const parts = quotaParts(this.#schema, this.#layout, quotas)
    this.#quotaParts.set(quotas, parts)
    return parts
  }

  /** Without a revision: the settings are in the site's slot, and own rows learn of them by watching. */
  #takeOwn(request: TakeRequest, { ownQuotas, periodsOf }: QuotaParts): Promise<TakeReply> {
    const periods = periodsOf(request.periods).own
    return this.#shard(request.subject).take({ ...request, quotas: ownQuotas, periods, settingsRevision: undefined })
  }

  #takeSite(
    { cost, settingsRevision, category, periods: both }: TakeRequest,
    { shared, sharedQuotas: { limits }, periodsOf }: QuotaParts,
    mayOpen: boolean,
  ): SiteAnswer | Promise<SiteAnswer> {
    const periods = periodsOf(both).shared
    return this.#pool(category, shared).take({ cost, limits, settingsRevision, periods, mayOpen })
  }

  async #takeAfter(
    request: TakeRequest,
    parts: QuotaParts,
    asked: SiteAnswer | Promise<SiteAnswer>,
  ): Promise<TakeReply> {
    const site = await asked
    if (site.outcome === 'stale') return stale(site)
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
    if (own.outcome === 'admitted') return { ...own, states: this.#joined(parts, own.states, site.states) }
    await putBack().catch(() => this.#strand(request.cost))
    const states = own.outcome === 'refused' ? this.#joined(parts, own.states, without(site.states, request.cost)) : []
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
    if (site.outcome === 'charged') return { ...own, states: this.#joined(parts, own.states, site.states) }
    await this.#undo(request, parts, own)
    if (site.outcome === 'refused') return this.#refusedBySite(request, parts, site)
    return stale(site)
  }

  async #undo(
    { subject, category, cost, id }: TakeRequest,
    parts: QuotaParts,
    { now, states }: TakeReply,
  ): Promise<void> {
    const request = { subject, category, layers: parts.own, states, giveBack: cost, as: 'cancelled', id } as const
    await this.#shard(subject).undo(request, now)
  }

  /** A refusal names every window that refuses, of the own rows as well, so that waiting as long as it says helps. */
  async #refusedBySite(request: TakeRequest, parts: QuotaParts, site: SiteAnswer): Promise<TakeReply> {
    if (parts.own.length === 0) return { outcome: 'refused', now: site.now, states: site.states }
    // A decision under limits of 0: it charges nothing, and like every refusal moves windows that a fast clock opened.
    const quotas = parts.nothing
    const cost = Math.max(1, request.cost)
    const own = await this.#shard(request.subject).take({
      ...request,
      quotas,
      periods: parts.periodsOf(request.periods).own,
      cost,
      id: undefined,
      settingsRevision: undefined,
    })
    if (own.outcome === 'stale') return own
    return { outcome: 'refused', now: site.now, states: this.#joined(parts, own.states, site.states) }
  }

  /** The same for the shared rows. */
  async #refusedByOwn(request: TakeRequest, parts: QuotaParts, own: TakeReply): Promise<TakeReply> {
    const { category, subject } = request
    const periods = parts.periodsOf(request.periods).shared
    const site = await this.#site.read({ subject, categories: [category], layers: parts.shared, periods })
    if (site.isStale === true) return { outcome: 'stale', now: site.now, states: [] }
    return {
      ...own,
      states: this.#joined(parts, own.states, withoutIdle(site.states[0]!, this.#pool(category, parts.shared))),
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
    this.#parts.counts.strandedTokens += tokens
  }
}

function poolKey(category: number, layers: readonly number[]): string {
  return `${category}:${layers.join()}`
}

function stale({ now, settingsRevision }: SiteAnswer): TakeReply {
  return { outcome: 'stale', now, states: [], settingsRevision }
}

/** What is used as far as this process knows: without the tokens that lie idle in its leases. */
function withoutIdle(states: readonly number[], pool: SitePool | undefined): readonly number[] {
  return pool === undefined ? states : without(states, pool.idleIn(startsOf(states)))
}
