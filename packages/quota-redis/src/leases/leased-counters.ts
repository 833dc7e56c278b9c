import { isToSettle, usedLayers } from '@scoregw/quota/internal'
import {
  Deadlines,
  isNotDone,
  notDone,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type RowRequest,
  type SettleRequest,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota/store'
import { storeError } from '../connection/errors.ts'
import { refundsOfStates } from '../counters/charges.ts'
import type { Counters } from '../counters/counters.ts'
import { newMark } from '../counters/record.ts'
import type { RedisCounters } from '../store/redis-store.ts'
import { atLeastOne } from './amounts.ts'
import { Places, type PlacesDeps } from './places.ts'
import { type SharedAnswer, stale } from './shared-answer.ts'
import { startsOf } from './shared-cells.ts'
import { joined, pairsAt, type SplitLayers, type SplitQuotas, splitLayers } from './split.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)

/** Counters of one policy whose shared layers are leased. */
export class LeasedCounters implements RedisCounters {
  readonly #places: Places
  readonly #deadlines: Deadlines
  #isClosed = false

  constructor(deps: PlacesDeps) {
    this.#places = new Places(deps)
    this.#deadlines = new Deadlines(deps.deadlineMs, steadyMs)
  }

  take(request: TakeRequest): Promise<TakeReply> {
    if (this.#isClosed) return Promise.reject(closed())
    const split = this.#places.splitLayers(request)
    if (split.shared.length === 0) return this.#takeOwn(request, split)
    // Under an id, the own rows come first: a repeat needs nothing from the shared layers.
    if (request.id !== undefined) return this.#inTime(request, this.#takeOwnFirst(request, split))
    try {
      const shared = this.#places.takeShared(request, split, split.own.length === 0)
      const isHere = !('then' in shared) && shared.outcome === 'charged'
      if (isHere) return this.#takeCharged(request, split, shared)
      return this.#inTime(request, this.#takeAfter(request, split, shared))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async read(request: ReadRequest): Promise<ReadReply> {
    const { subject } = request
    const { pools } = this.#places
    const split = this.#split(request)
    if (split.shared.length > 0) await Promise.all(pools.map(({ arrived }) => arrived))
    const [own, shared] = await Promise.all([
      this.#places.own(subject).read({ ...request, layers: split.own }),
      this.#places.readShared(request, split),
    ])
    if (own.isStale === true) return own
    if (shared.isStale === true) return shared
    return { now: split.own.length === 0 ? shared.now : own.now, states: joined(own.states, split, shared.states) }
  }

  async settle(request: SettleRequest): Promise<void> {
    const { subject, refunds, states } = request
    const split = this.#split(request)
    const hasOwn = split.own.length > 0 || request.id !== undefined
    const isMine = !hasOwn || (await this.#places.own(subject).settled({ ...request, layers: split.own }))
    if (!isMine || refunds.every((amount) => amount === 0) || split.shared.length === 0) return
    const pool = this.#places.pool(split.shared)
    if (refunds.every((amount) => amount >= 0)) {
      await pool.putBack(startsOf(pairsAt(states, split.sharedAt)), refunds)
      return
    }
    await this.#places.shared.settle({ ...request, layers: split.shared, id: undefined })
    pool.forgetDenial()
  }

  async reset(request: ResetRequest): Promise<void> {
    const { subject, limits } = request
    const { own, shared, sharedAt } = this.#split(request)
    const ownLimits = limits.filter((at) => !sharedAt.includes(at))
    if (own.length > 0) await this.#places.own(subject).reset({ subject, limits: ownLimits })
    if (shared.length === 0) return
    await this.#places.shared.reset({ subject, limits: limits.filter((at) => sharedAt.includes(at)) })
    for (const pool of this.#places.pools) pool.forget()
  }

  #split(request: RowRequest): SplitLayers {
    const { schema, layout } = this.#places
    return splitLayers(schema, layout, usedLayers(layout, request))
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

  /** A take of several servers in turn, while the caller waits for only one deadline. Too late, it is cancelled. */
  #inTime(request: TakeRequest, answer: Promise<TakeReply>): Promise<TakeReply> {
    return new Promise((resolve, reject) => {
      const deadline = this.#deadlines.begin(() => {
        reject(storeError(`the servers gave no answer within ${this.#deadlines.ms} ms`))
      })
      answer.then(
        (reply) => {
          if (deadline.met()) resolve(reply)
          else if (reply.outcome === 'admitted') this.#cancelLate(request, reply)
        },
        (error: unknown) => {
          deadline.met()
          reject(error)
        },
      )
    })
  }

  #takeOwn(request: TakeRequest, split: SplitQuotas): Promise<TakeReply> {
    return this.#places.own(request.subject).take(this.#places.ownPart(request, split))
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
    return Promise.resolve({ outcome: 'admitted', now: shared.now, states: this.#states(split, shared) })
  }

  /** The states of a request that only uses shared layers. */
  #states(split: SplitQuotas, { states }: SharedAnswer): number[] {
    return joined(this.#places.layout.blank, split, states)
  }

  /**
   * The shared tokens belong to this request. Tokens that it does not need are returned, unless its outcome is unknown.
   */
  async #takeOwnAfter(request: TakeRequest, split: SplitQuotas, shared: SharedAnswer): Promise<TakeReply> {
    const own = await this.#takeOwn(request, split).catch(async (error: unknown) => {
      if (isNotDone(error)) await this.#places.putBack(request, split, shared)
      else this.#places.strand(request.costs)
      throw error
    })
    if (own.outcome === 'admitted') return { ...own, states: joined(own.states, split, shared.states) }
    await this.#places.putBack(request, split, shared)
    if (own.outcome !== 'refused') return { ...own, states: [] }
    const states = this.#places.pool(split.shared).less(shared.states, request.costs)
    return { ...own, states: joined(own.states, split, states) }
  }

  /** Charges the own rows, then the shared ones. If those refuse or fail, the charge to the own rows is undone. */
  async #takeOwnFirst(request: TakeRequest, split: SplitQuotas): Promise<TakeReply> {
    const own = await this.#takeOwn(request, split)
    if (own.outcome === 'refused') return this.#refusedByOwn(request, split, own)
    if (own.outcome !== 'admitted') return own
    let shared: SharedAnswer
    try {
      shared = await this.#places.takeShared(request, split, true)
    } catch (error) {
      // Nothing was charged at the shared layers, or that is unknown. The caller is rejected either way.
      await this.#undo(request, split, own).catch(() => undefined)
      throw error
    }
    if (shared.outcome === 'charged') return { ...own, states: joined(own.states, split, shared.states) }
    await this.#undo(request, split, own)
    return shared.outcome === 'refused' ? this.#refusedByShared(request, split, shared) : stale(shared)
  }

  async #undo({ subject, set, costs, id }: TakeRequest, split: SplitQuotas, own: TakeReply): Promise<void> {
    const refunds = costs.slice(0, -1)
    const request = { subject, set, layers: split.own, states: own.states, refunds, as: 'cancelled', id } as const
    await undo(this.#places.own(subject), request, own.now)
  }

  /** Completes a refusal with the own windows that refuse as well, so that the reported wait is long enough. */
  async #refusedByShared(request: TakeRequest, split: SplitQuotas, shared: SharedAnswer): Promise<TakeReply> {
    if (split.own.length === 0) return { outcome: 'refused', now: shared.now, states: this.#states(split, shared) }
    // A decision under limits of 0 charges nothing. Like every refusal it re-anchors windows that a fast clock opened.
    const probe = { ...this.#places.ownPart(request, split), quotas: split.nothing, costs: atLeastOne(request.costs) }
    const own = await this.#places.own(request.subject).take({ ...probe, id: undefined })
    if (own.outcome === 'stale') return own
    return { outcome: 'refused', now: shared.now, states: joined(own.states, split, shared.states) }
  }

  /** The same for the shared rows. */
  async #refusedByOwn(request: TakeRequest, split: SplitQuotas, own: TakeReply): Promise<TakeReply> {
    const shared = await this.#places.readShared(request, split)
    if (shared.isStale === true) return { outcome: 'stale', now: shared.now, states: [] }
    return { ...own, states: joined(own.states, split, shared.states) }
  }

  #cancelLate({ subject, set, quotas, costs, id }: TakeRequest, { states }: TakeReply): void {
    const { layers } = quotas
    const refunds = costs.slice(0, -1)
    this.settle({ subject, set, layers, states, refunds, as: 'cancelled', id }).catch(() => {
      this.#places.strand(costs)
    })
  }
}

function closed(): Error {
  return notDone(storeError('this Redis store was closed'))
}

/**
 * Undoes an admission. Unlike a cancellation, it closes windows that it opened and nothing else used, and forgets the
 * id.
 *
 * @param takenAt the time of the reply that admitted it, epoch milliseconds
 */
async function undo(counters: Counters, request: SettleRequest, takenAt: number): Promise<void> {
  const { subject, id } = request
  const { keys, changes } = counters
  const refunds = refundsOfStates(request, keys).map((refund) => ({ ...refund, closes: refund.startedAt >= takenAt }))
  if (id === undefined) return counters.refund(refunds)
  await changes.change(keys.recordPlace(subject, id.id), (record) => {
    if (!isToSettle(record, id)) return { result: undefined }
    const after = { ...record, mark: newMark(), state: 'cancelled' } as const
    return { result: undefined, change: { after, keepMs: 0, refunds } }
  })
}
