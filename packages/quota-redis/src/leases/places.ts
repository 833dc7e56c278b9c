import { hash32, keyName, type Layout, layerKey, nth, usedLayers } from '@scoregw/quota/internal'
import type {
  LayerSchema,
  Quotas,
  ReadReply,
  StoreSchema,
  SubjectKeys,
  TakeRequest,
  WindowStates,
} from '@scoregw/quota/store'
import { keySlot, SLOTS } from '../connection/cluster-nodes.ts'
import type { Counters } from '../counters/counters.ts'
import { total, type UnitAmounts } from './amounts.ts'
import type { LeaseCounts } from './lease-report.ts'
import type { Pools } from './pools.ts'
import type { SharedAnswer } from './shared-answer.ts'
import { startsOf } from './shared-cells.ts'
import type { SharedPool } from './shared-pool.ts'
import { joined, pairsAt, positionsOf, type SplitLayers, type SplitQuotas, splitQuotas } from './split.ts'

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
  /** By shared layers. */
  readonly #pools = new Map<string, SharedPool>()
  /** By quotas, then by set. */
  readonly #splitQuotas = new WeakMap<Quotas, SplitQuotas[]>()

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
  own(subject: SubjectKeys): Counters {
    return nth(this.#own, groupOf(this.schema.layers, subject))
  }

  pool(layers: readonly number[]): SharedPool {
    const key = layers.join()
    const pool = this.#pools.get(key) ?? this.#deps.pools.of(this.shared, layers)
    this.#pools.set(key, pool)
    return pool
  }

  /** The pools of all policies on the store. */
  get pools(): readonly SharedPool[] {
    return this.#deps.pools.all
  }

  splitLayers(request: TakeRequest): SplitQuotas {
    const { quotas, set } = request
    const bySet = this.#splitQuotas.get(quotas) ?? []
    this.#splitQuotas.set(quotas, bySet)
    bySet[set] ??= splitQuotas(this.schema, this.layout, quotas, usedLayers(this.layout, request))
    return bySet[set]
  }

  /**
   * The own part of a request, without a revision. The settings are in the shared layers' slot; own rows learn of
   * changes by watching.
   */
  ownPart(request: TakeRequest, { ownQuotas }: SplitQuotas): TakeRequest {
    return { ...request, quotas: ownQuotas, settingsRevision: undefined }
  }

  /** @throws {QuotaError} `store_error` if too many requests wait */
  takeShared(
    { costs, settingsRevision, periods: all }: TakeRequest,
    { shared, sharedLimits: limits, sharedRates: rates, periodsOf }: SplitQuotas,
    mayOpen: boolean,
  ): SharedAnswer | Promise<SharedAnswer> {
    return this.pool(shared).take({ costs, limits, rates, settingsRevision, periods: periodsOf(all), mayOpen })
  }

  /** The shared limits of a request, without this process's unspent leases. */
  async readShared({ set, periods }: Pick<TakeRequest, 'set' | 'periods'>, split: SplitLayers): Promise<ReadReply> {
    const { shared: layers, sharedAt } = split
    const { now, isStale, states } = await this.shared.read({ subject: '', set, layers, periods })
    if (isStale === true) return { now, isStale, states: [] }
    return { now, states: pairsAt(this.#withoutIdle(states, layers), sharedAt) }
  }

  /** States without this process's unspent leases. */
  #withoutIdle(states: WindowStates, layers: readonly number[]): WindowStates {
    let left = states
    const spent = this.schema.sets.map((_, set) => usedLayers(this.layout, { subject: '', set, layers }))
    for (const [name, shared] of new Map(spent.map((each) => [each.join(), each]))) {
      if (name === '') continue
      const pool = this.pool(shared)
      const sharedAt = positionsOf(this.layout, shared)
      const pairs = pairsAt(left, sharedAt)
      left = joined(left, { sharedAt }, pool.less(pairs, pool.idleIn(startsOf(pairs))))
    }
    return left
  }

  /** Returns shared tokens that a request does not need. If that fails, they stay charged. */
  async putBack({ costs }: TakeRequest, { shared }: SplitLayers, { states }: SharedAnswer): Promise<void> {
    await this.pool(shared)
      .putBack(startsOf(states), costs)
      .catch(() => this.strand(costs))
  }

  /** Counts tokens that stay charged, because their outcome is unknown or their refund failed. */
  strand(amounts: UnitAmounts): void {
    this.#deps.counts.strandedTokens += total(amounts.slice(0, this.schema.units.length))
  }
}

/**
 * The number of slots that subjects are spread over. Takes of one group share a script call, so fewer groups make
 * larger batches. Twelve divides evenly over two, three, four or six primaries. The number is part of the keys: another
 * number would start new counters.
 */
export const GROUPS = 12

/**
 * The group of a subject. If layers have different keys, all subjects are in one group: a key that many
 * subjects share, such as a team's, cannot be in all their slots.
 */
export function groupOf(layers: readonly LayerSchema[], subject: SubjectKeys): number {
  const [own, ...others] = layers.filter(({ shared }) => !shared)
  return own === undefined || others.some((layer) => keyName(layer) !== keyName(own))
    ? 0
    : hash32(layerKey(own, subject)) % GROUPS
}

/**
 * The key prefix of each group. The names are chosen so that their slots are evenly spaced, and primaries with equal
 * slot ranges get equally many groups. With random names, one of three primaries would often get only half its share.
 */
export function groupPrefixes(prefix: string): readonly string[] {
  return Array.from({ length: GROUPS }, (_, group) => {
    const from = Math.ceil((group * SLOTS) / GROUPS)
    const to = Math.ceil(((group + 1) * SLOTS) / GROUPS)
    for (let attempt = 0; ; attempt++) {
      const name = `${prefix}~${group}.${attempt}`
      const slot = keySlot(`{${name}}`)
      if (slot >= from && slot < to) return name
    }
  })
}
