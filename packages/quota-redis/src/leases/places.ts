import type { Layout, Quotas, ReadReply, StoreSchema, Subject, TakeRequest, WindowStates } from '@scoregw/quota/store'
import type { Counters } from '../counters/counters.ts'
import { total, type UnitAmounts } from './amounts.ts'
import { GROUPS, groupOf } from './groups.ts'
import type { LeaseCounts } from './lease-report.ts'
import type { Pools } from './pools.ts'
import type { SharedAnswer } from './shared-answer.ts'
import { startsOf, without } from './shared-cells.ts'
import type { SharedPool } from './shared-pool.ts'
import { joined, type SplitLayers, type SplitQuotas, splitQuotas } from './split.ts'

export interface PlacesDeps {
  readonly schema: StoreSchema
  /** The counters of the shared rows. */
  readonly shared: Counters
  /** Opens the counters of a group of subjects. */
  readonly ownOf: (group: number) => Counters
  readonly deadlineMs: number
  readonly pools: Pools
  readonly counts: LeaseCounts
}

/** The parts of one policy's counters: one per group of subjects, one for the shared rows, and pools of leases. */
export class Places {
  readonly schema: StoreSchema
  readonly layout: Layout
  readonly shared: Counters
  readonly #deps: PlacesDeps
  /** By group of subjects. */
  readonly #own: readonly Counters[]
  /** By category and shared layers. */
  readonly #pools = new Map<string, SharedPool>()
  readonly #splitQuotas = new WeakMap<Quotas, SplitQuotas>()

  constructor(deps: PlacesDeps) {
    this.#deps = deps
    this.schema = deps.schema
    this.shared = deps.shared
    this.layout = deps.shared.keys.layout
    this.#own = Array.from({ length: GROUPS }, (_, group) => deps.ownOf(group))
  }

  /** Waits for calls in flight, at most one deadline; later calls fail. */
  async close(): Promise<void> {
    await Promise.all([this.shared, ...this.#own].map((counters) => counters.close()))
  }

  /** The counters of a subject's own rows. */
  own(subject: Subject): Counters {
    return this.#own[groupOf(this.schema.layers, subject)]!
  }

  pool(category: number, layers: readonly number[]): SharedPool {
    const key = `${category}:${layers.join()}`
    const pool = this.#pools.get(key) ?? this.#deps.pools.of(this.shared, category, layers)
    this.#pools.set(key, pool)
    return pool
  }

  /** The pools of all policies on the store. */
  get pools(): readonly SharedPool[] {
    return this.#deps.pools.all
  }

  splitLayers(quotas: Quotas): SplitQuotas {
    const known = this.#splitQuotas.get(quotas)
    if (known !== undefined) return known
    const split = splitQuotas(this.schema, this.layout, quotas)
    this.#splitQuotas.set(quotas, split)
    return split
  }

  /** States in the order of the request's layers. */
  joined(split: SplitLayers, own: WindowStates, shared: WindowStates): number[] {
    return joined(this.layout, split, own, shared)
  }

  /**
   * The own part of a request, without a revision. The settings are in the shared layers' slot; own rows learn of
   * changes by watching.
   */
  ownPart(request: TakeRequest, { ownQuotas, periodsOf }: SplitQuotas): TakeRequest {
    const periods = periodsOf(request.periods).own
    return { ...request, quotas: ownQuotas, periods, settingsRevision: undefined }
  }

  /** @throws {QuotaError} `store_error` if too many requests wait */
  takeShared(
    { costs, settingsRevision, category, periods: both }: TakeRequest,
    { shared, sharedQuotas: { limits, rates }, periodsOf }: SplitQuotas,
    mayOpen: boolean,
  ): SharedAnswer | Promise<SharedAnswer> {
    const periods = periodsOf(both).shared
    return this.pool(category, shared).take({ costs, limits, rates, settingsRevision, periods, mayOpen })
  }

  /** The shared rows of one category, without this process's unspent leases. */
  async readShared(
    { category, periods }: TakeRequest,
    { shared: layers, periodsOf }: SplitQuotas,
  ): Promise<Pick<ReadReply, 'now' | 'isStale'> & { readonly states: WindowStates }> {
    const categories = [category]
    const reply = await this.shared.read({ subject: '', categories, layers, periods: periodsOf(periods).shared })
    const { now, isStale, states } = reply
    return { now, isStale, states: isStale === true ? [] : this.withoutIdle(states[0]!, category, layers) }
  }

  /** Shared states as this process knows them, without its unspent leases. */
  withoutIdle(states: WindowStates, category: number, layers: readonly number[]): WindowStates {
    return without(this.layout, states, this.pool(category, layers).idleIn(startsOf(states)))
  }

  /** Returns shared tokens that a request does not need. If that fails, they stay charged. */
  async putBack({ category, costs }: TakeRequest, { shared }: SplitLayers, { states }: SharedAnswer): Promise<void> {
    await this.pool(category, shared)
      .putBack(startsOf(states), costs)
      .catch(() => this.strand(costs))
  }

  /** Counts tokens that stay charged, because their outcome is unknown or their refund failed. */
  strand(amounts: UnitAmounts): void {
    this.#deps.counts.strandedTokens += total(amounts.slice(0, this.schema.units.length))
  }
}
