import {
  Deadlines,
  notDone,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import { storeError } from '../connection/errors.ts'
import type { RedisHolds } from '../counters/redis-holds.ts'
import type { RedisCounters } from '../store/redis-store.ts'
import { atLeastOne } from './amounts.ts'
import { LeasedHolds } from './leased-holds.ts'
import { Places, type PlacesDeps, withoutIdle } from './places.ts'
import { isHoldTake } from './shard.ts'
import { type SharedAnswer, stale } from './shared-answer.ts'
import { startsOf, without } from './shared-cells.ts'
import { rowsOf, type SplitQuotas, splitLayers, splitPeriods } from './split.ts'

/** Counters of one policy whose shared layers are leased. */
export class LeasedCounters implements RedisCounters {
  readonly #places: Places
  readonly #holds: LeasedHolds
  readonly #deadlines: Deadlines
  #isClosed = false

  constructor(deps: PlacesDeps) {
    this.#places = new Places(deps)
    this.#holds = new LeasedHolds(this.#places)
    this.#deadlines = new Deadlines(deps.deadlineMs, () => performance.now())
  }

  get holds(): RedisHolds {
    const holds = this.#holds
    const inTime = <T>(work: () => Promise<T>): Promise<T> =>
      this.#isClosed ? Promise.reject(closed()) : this.#inTime(work(), () => undefined)
    return {
      extend: (request) => holds.extend(request),
      grow: (request) => inTime(() => holds.grow(request)),
      settle: (request) => inTime(() => holds.settle(request)),
      list: (request) => holds.list(request),
      sweep: () => holds.sweep(),
    }
  }

  take(request: TakeRequest): Promise<TakeReply> {
    if (this.#isClosed) return Promise.reject(closed())
    const split = this.#places.splitLayers(request.quotas)
    if (isHoldTake(request)) {
      return this.#inTime(this.#holds.take(request, split), ({ outcome }) => {
        if (outcome === 'admitted') this.#holds.cancelLate(request)
      })
    }
    if (split.shared.length === 0) return this.#takeOwn(request, split)
    // Under an id, the own rows come first: a repeat needs nothing from the shared layers.
    if (request.id !== undefined) return this.#takeInTime(request, this.#takeOwnFirst(request, split))
    try {
      const shared = this.#places.takeShared(request, split, split.own.length === 0)
      const isHere = !(shared instanceof Promise) && shared.outcome === 'charged'
      if (isHere) return this.#takeCharged(request, split, shared)
      return this.#takeInTime(request, this.#takeAfter(request, split, shared))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async read(request: ReadRequest): Promise<ReadReply> {
    const { subject, categories, layers } = request
    const { schema, layout, sharedShard, pools } = this.#places
    const split = splitLayers(schema, layers)
    if (split.shared.length > 0) await Promise.all(pools.map(({ refreshed }) => refreshed))
    const periods = splitPeriods(layout, split, request.periods)
    const [own, shared] = await Promise.all([
      this.#places.shard(subject).read({ subject, categories, layers: split.own, periods: periods.own }),
      sharedShard.read({ subject, categories, layers: split.shared, periods: periods.shared }),
    ])
    if (own.isStale === true) return own
    if (shared.isStale === true) return shared
    const states = categories.map((category, index) => {
      const ofShared = shared.states[index]!
      const hasPool = split.shared.length > 0
      const used = hasPool ? withoutIdle(layout, ofShared, this.#places.pool(category, split.shared)) : ofShared
      return this.#places.joined(split, own.states[index]!, used)
    })
    return { now: split.own.length === 0 ? shared.now : own.now, states }
  }

  async settle(request: SettleRequest): Promise<void> {
    const { subject, category, refunds } = request
    const { schema, layout, sharedShard } = this.#places
    const split = splitLayers(schema, request.layers)
    const own = { ...request, layers: split.own, states: rowsOf(layout, request.states, split.ownAt) }
    const hasOwn = split.own.length > 0 || request.id !== undefined
    const isMine = !hasOwn || (await this.#places.shard(subject).settle(own))
    if (!isMine || refunds.every((amount) => amount === 0) || split.shared.length === 0) return
    const states = rowsOf(layout, request.states, split.sharedAt)
    const pool = this.#places.pool(category, split.shared)
    if (refunds.every((amount) => amount >= 0)) return pool.putBack(startsOf(states), refunds)
    await sharedShard.settle({ ...request, layers: split.shared, states, id: undefined })
    pool.forgetDenial()
  }

  async reset(request: ResetRequest): Promise<void> {
    const { schema, sharedShard, pools } = this.#places
    const { own, shared } = splitLayers(schema, request.layers)
    if (own.length > 0) await this.#places.shard(request.subject).reset({ ...request, layers: own })
    if (shared.length === 0) return
    await sharedShard.reset({ ...request, layers: shared })
    for (const pool of pools) pool.forget()
  }

  /** New decisions are rejected from now on. */
  stop(): void {
    this.#isClosed = true
  }

  /** Waits for calls in flight; later calls fail. */
  async close(): Promise<void> {
    this.stop()
    await this.#places.close()
  }

  #takeInTime(request: TakeRequest, answer: Promise<TakeReply>): Promise<TakeReply> {
    return this.#inTime(answer, (reply) => {
      if (reply.outcome === 'admitted') this.#refundLate(request, reply)
    })
  }

  /** Runs calls to several servers in turn, while the caller waits for only one deadline. */
  #inTime<T>(answer: Promise<T>, late: (reply: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const deadline = this.#deadlines.begin(() => {
        reject(storeError(`the servers gave no answer within ${this.#deadlines.ms} ms`))
      })
      answer.then(
        (reply) => {
          if (deadline.met()) resolve(reply)
          else late(reply)
        },
        (error: unknown) => {
          deadline.met()
          reject(error)
        },
      )
    })
  }

  #takeOwn(request: TakeRequest, split: SplitQuotas): Promise<TakeReply> {
    return this.#places.shard(request.subject).take(this.#places.ownPart(request, split))
  }

  async #takeAfter(
    request: TakeRequest,
    split: SplitQuotas,
    answer: SharedAnswer | Promise<SharedAnswer>,
  ): Promise<TakeReply> {
    const shared = await answer
    if (shared.outcome === 'stale') return stale(shared)
    if (shared.outcome === 'would-open') return this.#takeOwnFirst(request, split)
    if (shared.outcome === 'refused') return this.#refusedByShared(request, split, shared)
    return this.#takeCharged(request, split, shared)
  }

  #takeCharged(request: TakeRequest, split: SplitQuotas, shared: SharedAnswer): Promise<TakeReply> {
    if (split.own.length > 0) return this.#takeOwnAfter(request, split, shared)
    return Promise.resolve({ outcome: 'admitted', now: shared.now, states: shared.states })
  }

  /**
   * The shared tokens belong to this request. Tokens that it does not need are returned, unless its outcome is unknown.
   */
  async #takeOwnAfter(request: TakeRequest, split: SplitQuotas, shared: SharedAnswer): Promise<TakeReply> {
    const { costs, category } = request
    const own = await this.#places.orPutBack(request, split, shared, this.#takeOwn(request, split))
    if (own.outcome === 'admitted') return { ...own, states: this.#places.joined(split, own.states, shared.states) }
    await this.#places.putBack(category, split, shared.states, costs)
    if (own.outcome !== 'refused') return { ...own, states: [] }
    return {
      ...own,
      states: this.#places.joined(split, own.states, without(this.#places.layout, shared.states, costs)),
    }
  }

  /** Charges the own rows, then the shared ones. If those refuse, the charge to the own rows is undone. */
  async #takeOwnFirst(request: TakeRequest, split: SplitQuotas): Promise<TakeReply> {
    const own = await this.#takeOwn(request, split)
    if (own.outcome === 'refused') return this.#refusedByOwn(request, split, own)
    if (own.outcome !== 'admitted') return own
    const shared = await this.#places.takeSharedLast(request, split, () => this.#undo(request, split, own))
    if (shared.outcome === 'charged') return { ...own, states: this.#places.joined(split, own.states, shared.states) }
    await this.#undo(request, split, own)
    if (shared.outcome === 'refused') return this.#refusedByShared(request, split, shared)
    return stale(shared)
  }

  async #undo(
    { subject, category, costs, id }: TakeRequest,
    split: SplitQuotas,
    { now, states }: TakeReply,
  ): Promise<void> {
    const refunds = costs.slice(0, -1)
    const request = { subject, category, layers: split.own, states, refunds, as: 'cancelled', id } as const
    await this.#places.shard(subject).undo(request, now)
  }

  /** Completes a refusal with the own windows that refuse as well, so that the reported wait is long enough. */
  async #refusedByShared(request: TakeRequest, split: SplitQuotas, shared: SharedAnswer): Promise<TakeReply> {
    if (split.own.length === 0) return { outcome: 'refused', now: shared.now, states: shared.states }
    // A decision under limits of 0 charges nothing. Like every refusal it re-anchors windows that a fast clock opened.
    const probe = { ...this.#places.ownPart(request, split), quotas: split.nothing, costs: atLeastOne(request.costs) }
    const own = await this.#places.shard(request.subject).take({ ...probe, id: undefined })
    if (own.outcome === 'stale') return own
    return { outcome: 'refused', now: shared.now, states: this.#places.joined(split, own.states, shared.states) }
  }

  /** The same for the shared rows. */
  async #refusedByOwn(request: TakeRequest, split: SplitQuotas, own: TakeReply): Promise<TakeReply> {
    const shared = await this.#places.readShared(request, split)
    if (shared.isStale === true) return { outcome: 'stale', now: shared.now, states: [] }
    return { ...own, states: this.#places.joined(split, own.states, shared.states) }
  }

  /** Cancels an admission that arrived after its caller's deadline. */
  #refundLate({ subject, category, quotas, costs, id }: TakeRequest, { states }: TakeReply): void {
    const { layers } = quotas
    const refunds = costs.slice(0, -1)
    this.settle({ subject, category, layers, states, refunds, as: 'cancelled', id }).catch(() => {
      this.#places.strand(costs)
    })
  }
}

function closed(): Error {
  return notDone(storeError('this Redis store was closed'))
}
