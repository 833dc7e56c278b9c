import {
  isNotDone,
  type Layout,
  type Quotas,
  type ReadReply,
  type StoreSchema,
  type Subject,
  type TakeRequest,
  type WindowStates,
} from '@scoregw/quota/store'
import { total, type UnitAmounts } from './amounts.ts'
import { GROUPS, groupOf } from './groups.ts'
import type { FreedAmounts } from './hold-records.ts'
import type { LeaseCounts } from './lease-report.ts'
import type { Pools } from './pools.ts'
import type { Shard } from './shard.ts'
import { SharedAmounts } from './shared-amounts.ts'
import type { SharedAnswer } from './shared-answer.ts'
import { startsOf, without } from './shared-cells.ts'
import type { SharedPool } from './shared-pool.ts'
import { joined, type SplitLayers, type SplitQuotas, splitQuotas } from './split.ts'

export interface PlacesDeps {
  readonly schema: StoreSchema
  readonly sharedShard: Shard
  /** Creates the shard of a group of subjects. `refund` receives the shared charges of holds that end there. */
  readonly shardOf: (group: number, refund: (freed: FreedAmounts) => Promise<void>) => Shard
  readonly deadlineMs: number
  /** Creates the shared layers' shard under another schema. */
  readonly sharedOf: (schema: StoreSchema) => Shard
  readonly pools: Pools
  readonly counts: LeaseCounts
}

/** A demand on the shared layers for a take or a growth. */
export type SharedTake = Pick<TakeRequest, 'costs' | 'category' | 'settingsRevision' | 'periods'>

/** The parts of one policy's counters: shards of subjects, the shared layers' shard, and pools of leases. */
export class Places {
  readonly schema: StoreSchema
  readonly layout: Layout
  readonly sharedShard: Shard
  /** By group of subjects. */
  readonly shards: readonly Shard[]
  readonly #deps: PlacesDeps
  readonly #shared: SharedAmounts
  /** By category and shared layers. */
  readonly #pools = new Map<string, SharedPool>()
  readonly #splitQuotas = new WeakMap<Quotas, SplitQuotas>()

  constructor(deps: PlacesDeps) {
    this.#deps = deps
    this.schema = deps.schema
    this.sharedShard = deps.sharedShard
    this.layout = deps.sharedShard.keys.layout
    this.#shared = new SharedAmounts({
      schema: this.schema,
      layout: this.layout,
      pool: (category, layers) => this.pool(category, layers),
      strand: (amounts) => this.strand(amounts),
      sharedOf: deps.sharedOf,
      mostWaitMs: deps.deadlineMs / 2,
    })
    const refund = (freed: FreedAmounts): Promise<void> => this.#shared.refund(freed)
    this.shards = Array.from({ length: GROUPS }, (_, group) => deps.shardOf(group, refund))
  }

  /** Waits for calls in flight, at most one deadline per kind; later calls fail. */
  async close(): Promise<void> {
    // Holds that end there may have shared tokens.
    await Promise.all(this.shards.map((shard) => shard.close()))
    await Promise.all([this.sharedShard.close(), this.#shared.close()])
  }

  shard(subject: Subject): Shard {
    return this.shards[groupOf(this.schema.layers, subject)]!
  }

  pool(category: number, layers: readonly number[]): SharedPool {
    const key = `${category}:${layers.join()}`
    const pool = this.#pools.get(key) ?? this.#deps.pools.of(this.sharedShard, category, layers)
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
  ownPart<R extends { readonly periods?: readonly number[] | undefined }>(
    request: R,
    { ownQuotas, periodsOf }: SplitQuotas,
  ): R & { readonly quotas: Quotas; readonly settingsRevision: undefined } {
    const periods = periodsOf(request.periods).own
    return { ...request, quotas: ownQuotas, periods, settingsRevision: undefined }
  }

  /** @throws {QuotaError} `store_error` if too many requests wait */
  takeShared(
    { costs, settingsRevision, category, periods: both }: SharedTake,
    { shared, sharedQuotas: { limits, rates }, periodsOf }: SplitQuotas,
    mayOpen: boolean,
  ): SharedAnswer | Promise<SharedAnswer> {
    const periods = periodsOf(both).shared
    return this.pool(category, shared).take({ costs, limits, rates, settingsRevision, periods, mayOpen })
  }

  /** Charges the shared layers once the own rows are charged. If that fails, the own part is undone. */
  async takeSharedLast(request: SharedTake, split: SplitQuotas, undo: () => Promise<unknown>): Promise<SharedAnswer> {
    try {
      return await this.takeShared(request, split, true)
    } catch (error) {
      // Nothing was charged at the shared layers, or that is unknown. The caller is rejected either way.
      await undo().catch(() => undefined)
      throw error
    }
  }

  /** Waits for the own part of a request. If it was not carried out, the shared tokens are returned. */
  async orPutBack<T>(
    { category, costs }: SharedTake,
    split: SplitQuotas,
    { states }: SharedAnswer,
    own: Promise<T>,
  ): Promise<T> {
    try {
      return await own
    } catch (error) {
      if (isNotDone(error)) await this.putBack(category, split, states, costs)
      else this.strand(costs)
      throw error
    }
  }

  /** The shared rows of one category, without this process's unspent leases. */
  async readShared(
    { category, periods }: Pick<TakeRequest, 'category' | 'periods'>,
    { shared: layers, periodsOf }: SplitQuotas,
  ): Promise<Pick<ReadReply, 'now' | 'isStale'> & { readonly states: WindowStates }> {
    const categories = [category]
    const reply = await this.sharedShard.read({ subject: '', categories, layers, periods: periodsOf(periods).shared })
    const { now, isStale, states } = reply
    return {
      now,
      isStale,
      states: isStale === true ? [] : withoutIdle(this.layout, states[0]!, this.pool(category, layers)),
    }
  }

  /** Returns shared tokens that a request does not need. If that fails, they stay charged. */
  async putBack(category: number, { shared }: SplitLayers, states: WindowStates, amounts: UnitAmounts): Promise<void> {
    await this.pool(category, shared)
      .putBack(startsOf(states), amounts)
      .catch(() => this.strand(amounts))
  }

  strand(amounts: UnitAmounts): void {
    this.#deps.counts.strandedTokens += total(amounts.slice(0, this.schema.units.length))
  }
}

/** The used amounts as this process knows them, without its unspent leases. */
export function withoutIdle(layout: Layout, states: readonly number[], pool: SharedPool): readonly number[] {
  return without(layout, states, pool.idleIn(startsOf(states)))
}
