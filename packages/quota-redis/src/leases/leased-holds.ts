import type {
  EndedHold,
  ExtendRequest,
  GrowRequest,
  HoldOutcome,
  HoldReply,
  ListHoldsReply,
  ListHoldsRequest,
  SettleHoldReply,
  SettleHoldRequest,
  SweepReply,
  TakeReply,
  WindowStates,
} from '@scoregw/quota/store'
import { newMark } from '../counters/record.ts'
import { atLeastOne, isNothing, type UnitAmounts } from './amounts.ts'
import type { SharedCharge } from './hold-records.ts'
import type { Places } from './places.ts'
import type { Grown, HoldTaken, HoldTakeRequest } from './shard.ts'
import { chargeOf, UNSAID } from './shared-amounts.ts'
import { type SharedAnswer, stale } from './shared-answer.ts'
import { without } from './shared-cells.ts'
import type { SplitQuotas } from './split.ts'

/** The most ended holds that one sweep returns. */
const MOST_ENDED = 1_000

/**
 * Holds whose shared charges come from leases. The record is in its subject's slot and includes the charges at the
 * shared layers. So the own part is one atomic step, and the process that ends the hold receives the refund for the
 * shared layers once. Shared tokens are in a record or in a process, never in both. Tokens in doubt stay charged.
 */
export class LeasedHolds {
  readonly #places: Places

  constructor(places: Places) {
    this.#places = places
  }

  async take(request: HoldTakeRequest, split: SplitQuotas): Promise<TakeReply> {
    if (split.shared.length === 0) return plain(await this.#takeOwn(request, split))
    // A request that costs nothing charges no row, and is never refused.
    if (isNothing(request.costs.slice(0, -1))) return this.#takeNothing(request, split)
    const shared = await this.#places.takeShared(request, split, false)
    if (shared.outcome === 'stale') return stale(shared)
    if (shared.outcome === 'would-open') return this.#takeOwnFirst(request, split)
    if (shared.outcome === 'refused') return this.#refusedByShared(request, split, shared)
    return this.#takeOwnAfter(request, split, shared)
  }

  /** Cancels a hold whose caller was rejected before it was made. If that fails, the hold expires. */
  cancelLate({ subject, category, id }: HoldTakeRequest): void {
    const end = { as: 'cancelled', overrun: 'refuse', maxOverrun: [] } as const
    this.#places
      .shard(subject)
      .settleHold({ subject, category, id, quotas: NO_QUOTAS, ...end })
      .catch(() => undefined)
  }

  extend(request: ExtendRequest): Promise<HoldReply> {
    return this.#places.shard(request.subject).extend(request)
  }

  async grow(request: GrowRequest): Promise<HoldReply> {
    const split = this.#places.splitLayers(request.quotas)
    if (split.shared.length === 0) return this.#growOwn(request, split, newMark())
    const shared = await this.#places.takeShared(request, split, false)
    if (shared.outcome === 'stale') return stale(shared)
    if (shared.outcome === 'would-open') return this.#growOwnFirst(request, split)
    if (shared.outcome === 'refused') return this.#growRefused(request, split, shared)
    return this.#growOwnAfter(request, split, shared)
  }

  async settle(request: SettleHoldRequest): Promise<SettleHoldReply> {
    const split = this.#places.splitLayers(request.quotas)
    const { ownQuotas, periodsOf } = split
    const periods = periodsOf(request.periods).own
    const own = { ...request, quotas: ownQuotas, periods }
    const reply = await this.#places.shard(request.subject).settleHold(own)
    const { added = [] } = reply
    if (isNothing(added) || split.shared.length === 0) return reply
    const shared = await this.#overrun(request, split, added).catch(() => undefined)
    return { ...reply, states: shared === undefined ? [] : this.#places.joined(split, reply.states, shared) }
  }

  list(request: ListHoldsRequest): Promise<ListHoldsReply> {
    return this.#places.shard(request.subject).list(request)
  }

  async sweep(): Promise<SweepReply> {
    const sweepers = this.#places.shards.map(({ sweeper }) => sweeper)
    const open = await Promise.all(sweepers.map((sweeper) => sweeper.sweep()))
    const ended: EndedHold[] = []
    for (const sweeper of sweepers) ended.push(...sweeper.drain(MOST_ENDED - ended.length))
    return { ended, open: open.reduce((sum, each) => sum + each, 0) }
  }

  // Takes ------------------------------------------------------------------------------------------------------------

  #takeOwn(request: HoldTakeRequest, split: SplitQuotas, shared?: SharedCharge): Promise<HoldTaken> {
    return this.#places.shard(request.subject).takeHold(this.#places.ownPart(request, split), shared)
  }

  async #takeNothing(request: HoldTakeRequest, split: SplitQuotas): Promise<TakeReply> {
    const shared = await this.#places.readShared(request, split)
    if (shared.isStale === true) return { outcome: 'stale', now: shared.now, states: [] }
    return this.#answer(split, await this.#takeOwn(request, split), shared.states)
  }

  /**
   * The shared tokens belong to this request until the record contains them. The rest is returned, unless its outcome
   * is unknown.
   */
  async #takeOwnAfter(request: HoldTakeRequest, split: SplitQuotas, shared: SharedAnswer): Promise<TakeReply> {
    const { costs, category } = request
    const charge = chargeOf(this.#places, split, category, shared.states, costs)
    const own = await this.#places.orPutBack(request, split, shared, this.#takeOwn(request, split, charge))
    // Also if the hold has ended since: the process that ended it received them. An earlier attempt may lack them.
    if (own.mark === charge.mark) return this.#answer(split, own, shared.states)
    if (own.isPartial === true) {
      await this.#attach(request, split, shared, costs)
      return this.#answer(split, own, shared.states)
    }
    await this.#putBack(category, split, shared, costs, own)
    return this.#answer(split, own, without(this.#places.layout, shared.states, costs))
  }

  /** Charges the own rows, then the shared ones. If those refuse, the hold is removed. */
  async #takeOwnFirst(request: HoldTakeRequest, split: SplitQuotas): Promise<TakeReply> {
    const own = await this.#takeOwn(request, split, { mark: newMark(), ...UNSAID })
    // An earlier attempt without its shared part is completed; anything else stays as it is.
    if (own.isPartial !== true) return this.#answerBy(request, split, own)
    const undo = () => this.#undo(request, own.now, undefined)
    const shared = await this.#places.takeSharedLast(request, split, undo)
    if (shared.outcome === 'charged') {
      await this.#attach(request, split, shared, request.costs)
      return this.#answer(split, own, shared.states)
    }
    await undo()
    if (shared.outcome === 'refused') return this.#refusedByShared(request, split, shared)
    return stale(shared)
  }

  /**
   * Completes a refusal with the own limits that refuse as well. Under a known id, it answers as that id did before.
   */
  async #refusedByShared(request: HoldTakeRequest, split: SplitQuotas, shared: SharedAnswer): Promise<TakeReply> {
    const refused: TakeReply = { outcome: 'refused', now: shared.now, states: shared.states }
    const probe = { ...this.#places.ownPart(request, split), quotas: split.nothing, costs: atLeastOne(request.costs) }
    const hasOwn = split.own.length > 0
    // Without own rows nothing refuses here. The limit on open holds is only reported for unused ids.
    const hold = hasOwn ? request.hold : { ...request.hold, maxHolds: 0 }
    const own = await this.#places.shard(request.subject).takeHold({ ...probe, hold })
    if (own.outcome === 'too_many_holds' && !hasOwn) return refused
    if (own.outcome === 'refused') return { ...refused, states: this.#places.joined(split, own.states, shared.states) }
    if (own.isPartial !== true) return this.#answer(split, own, shared.states)
    await this.#undo(request, own.now, undefined)
    return this.#refusedByShared(request, split, shared)
  }

  #answer(split: SplitQuotas, own: HoldTaken, shared: WindowStates): TakeReply {
    const hasStates = own.outcome === 'admitted' || own.outcome === 'refused'
    return { ...plain(own), states: hasStates ? this.#places.joined(split, own.states, shared) : [] }
  }

  /** The same before the shared layers have replied. */
  async #answerBy(request: HoldTakeRequest, split: SplitQuotas, own: HoldTaken): Promise<TakeReply> {
    if (own.outcome !== 'admitted' && own.outcome !== 'refused') return plain(own)
    const shared = await this.#places.readShared(request, split)
    // An admission stays an admission: a repeat gets the same answer.
    if (shared.isStale === true) return { outcome: 'stale', now: shared.now, states: [] }
    return this.#answer(split, own, shared.states)
  }

  // Growths ----------------------------------------------------------------------------------------------------------

  #growOwn(request: GrowRequest, split: SplitQuotas, mark: string, shared?: SharedCharge): Promise<Grown> {
    return this.#places.shard(request.subject).grow(this.#places.ownPart(request, split), { mark, shared })
  }

  async #growOwnAfter(request: GrowRequest, split: SplitQuotas, shared: SharedAnswer): Promise<HoldReply> {
    const { category, costs } = request
    const charge = chargeOf(this.#places, split, category, shared.states, costs)
    const growing = this.#growOwn(request, split, charge.mark, charge)
    const grown = await this.#places.orPutBack(request, split, shared, growing)
    const { hasGrown, isInDoubt, ...own } = grown
    if (own.outcome === 'held') return { ...own, states: this.#grownStates(split, own, shared.states) }
    if (hasGrown !== true) await this.#putBack(category, split, shared, costs, { isInDoubt })
    if (own.outcome !== 'refused') return own
    return {
      ...own,
      states: this.#places.joined(split, own.states, without(this.#places.layout, shared.states, costs)),
    }
  }

  async #growOwnFirst(request: GrowRequest, split: SplitQuotas): Promise<HoldReply> {
    const mark = newMark()
    const own = await this.#growOwn(request, split, mark)
    if (own.outcome === 'refused') {
      const shared = await this.#places.readShared(request, split)
      if (shared.isStale === true) return { outcome: 'stale', now: shared.now, states: [] }
      return { ...own, states: this.#places.joined(split, own.states, shared.states) }
    }
    if (own.outcome !== 'held') return own
    const undo = () => this.#undo(request, own.now, mark)
    const shared = await this.#places.takeSharedLast(request, split, undo)
    if (shared.outcome === 'charged') {
      await this.#attach(request, split, shared, request.costs)
      return { ...own, states: this.#grownStates(split, own, shared.states) }
    }
    const isUndone = (await undo()) === 'held'
    if (shared.outcome !== 'refused' || !isUndone) return stale(shared)
    const { subject, category } = request
    const [layers, periods] = [split.own, split.periodsOf(request.periods).own]
    const { states, isStale } = await this.#places
      .shard(subject)
      .read({ subject, categories: [category], layers, periods })
    if (isStale === true) return stale(shared)
    return { outcome: 'refused', now: shared.now, states: this.#places.joined(split, states[0]!, shared.states) }
  }

  async #growRefused(request: GrowRequest, split: SplitQuotas, shared: SharedAnswer): Promise<HoldReply> {
    const refused: HoldReply = { outcome: 'refused', now: shared.now, states: shared.states }
    if (split.own.length === 0) {
      const { outcome, now } = await this.extend({ ...request, ttlMs: 0 })
      return outcome === 'held' ? refused : { outcome, now, states: [] }
    }
    const probe = { ...this.#places.ownPart(request, split), quotas: split.nothing }
    const own = await this.#places.shard(request.subject).grow(probe)
    if (own.outcome !== 'refused') return own
    return { ...refused, states: this.#places.joined(split, own.states, shared.states) }
  }

  /** Answers without states if the growth was made before and its reply was lost. */
  #grownStates(split: SplitQuotas, own: Grown, shared: WindowStates): WindowStates {
    return own.states.length === 0 && split.own.length > 0 ? [] : this.#places.joined(split, own.states, shared)
  }

  // What both need ---------------------------------------------------------------------------------------------------

  /** Returns what the own part did not take, unless an attempt may still be carried out. */
  async #putBack(
    category: number,
    split: SplitQuotas,
    { states }: SharedAnswer,
    costs: UnitAmounts,
    { isInDoubt }: { readonly isInDoubt?: boolean | undefined },
  ): Promise<void> {
    if (isInDoubt === true) this.#places.strand(costs)
    else await this.#places.putBack(category, split, states, costs)
  }

  /** Stores the shared charge after the own part. If the hold has ended by then, it isn't needed. */
  async #attach(
    request: HoldTakeRequest | GrowRequest,
    split: SplitQuotas,
    shared: SharedAnswer,
    costs: UnitAmounts,
  ): Promise<void> {
    const { subject, category, id } = request
    const charge = chargeOf(this.#places, split, category, shared.states, costs)
    try {
      const isAttached = await this.#places.shard(subject).attach({ subject, category, id }, charge)
      if (!isAttached) await this.#places.putBack(category, split, shared.states, costs)
    } catch {
      // The hold and its charge remain, and nothing will refund the charge.
      this.#places.strand(costs)
    }
  }

  #undo(
    { subject, category, id, costs }: HoldTakeRequest | GrowRequest,
    takenAt: number,
    growth: string | undefined,
  ): Promise<HoldOutcome> {
    return this.#places.shard(subject).undoHold({ subject, category, id, growth, costs, takenAt })
  }

  /**
   * Charges the shared layers for a commit's cost beyond its hold, regardless of the limits. Resolves to the states
   * after it.
   */
  async #overrun(
    request: SettleHoldRequest,
    split: SplitQuotas,
    added: UnitAmounts,
  ): Promise<WindowStates | undefined> {
    const { subject, category } = request
    const { shared, sharedQuotas, periodsOf } = split
    const quotas = { ...sharedQuotas, limits: sharedQuotas.limits.map(() => Number.POSITIVE_INFINITY) }
    const periods = periodsOf(request.periods).shared
    const { outcome, states } = await this.#places.sharedShard.take({
      subject,
      category,
      quotas,
      periods,
      costs: [...added, 0],
    })
    this.#places.pool(category, shared).forgetDenial()
    return outcome === 'admitted' ? states : undefined
  }
}

const NO_QUOTAS = { layers: [], limits: [] } as const

/** Removes the members that only leases use. */
function plain({ mark: _, isPartial: __, isInDoubt: ___, ...reply }: HoldTaken): TakeReply {
  return reply
}
