import {
  answerToKeep,
  commitAnswer,
  extendedEnd,
  grownCosts,
  holdOutcome,
  named,
  planSettlement,
  settledAmounts,
} from '@scoregw/quota/internal'
import type {
  AsyncHolds,
  ExtendRequest,
  GrowRequest,
  HoldRecord,
  HoldRef,
  HoldReply,
  ListHoldsReply,
  ListHoldsRequest,
  SettleHoldReply,
  SettleHoldRequest,
  SweepReply,
} from '@scoregw/quota/store'
import type { Keys, RecordPlace } from '../keys/keys.ts'
import type { Calls } from './calls.ts'
import { chargedIn } from './charges.ts'
import { type HoldIndexes, HoldSweeper } from './open-holds.ts'
import { cancelledRecord, type IdRecord, newMark, withGrowth } from './record.ts'
import { type Changed, type Decide, type Decided, isOpenHold, type RecordChanges, seenAt } from './record-changes.ts'

/** The most holds that a list contains. By default a subject can have far fewer. */
const MOST_LISTED = 10_000

/** Holds, decided on their records by the rules that all stores share. */
export class Holds implements AsyncHolds {
  /** Ends expired holds. */
  readonly sweeper: HoldSweeper
  readonly #keys: Keys
  readonly #changes: RecordChanges
  readonly #calls: Calls
  readonly #indexes: HoldIndexes

  constructor(changes: RecordChanges, calls: Calls, indexes: HoldIndexes) {
    this.#keys = changes.keys
    this.#changes = changes
    this.#calls = calls
    this.#indexes = indexes
    this.sweeper = new HoldSweeper(indexes, changes.keys.holds, (name) => this.#endNamed(name))
  }

  async extend({ ttlMs, ...ref }: ExtendRequest): Promise<HoldReply> {
    const { now, result } = await this.#changes.change<Omit<HoldReply, 'now'>>(this.#placeOf(ref), (stored, at) => {
      const { record, ended } = seenAt(stored, at)
      const outcome = holdOutcome(record, ref.id)
      if (outcome !== 'held' || !isOpenHold(record)) return { result: { outcome, states: [] }, change: ended }
      const { hold } = record
      const endsAt = extendedEnd(hold, ttlMs, at)
      const after = { ...record, mark: newMark(), hold: { ...hold, endsAt } }
      const change = { after, keepMs: hold.keepMs, until: hold.endsAt }
      return { result: { outcome, endsAt, states: [] }, change, needsNow: true }
    })
    return { ...result, now }
  }

  async grow(request: GrowRequest): Promise<HoldReply> {
    const decide = growthOf(request, this.#keys.schema.units)
    return growthReply(await this.#changes.change(this.#placeOf(request), decide))
  }

  async settle(request: SettleHoldRequest): Promise<SettleHoldReply> {
    const { units } = this.#keys.schema
    const changed = await this.#changes.change(this.#placeOf(request), (stored, at) =>
      this.#planned(request, stored, at),
    )
    const { now, result, status, states, added } = changed
    if (status === 'other_settings' || status === 'other_periods') {
      const { costs: reserved = {} } = result.record?.hold ?? {}
      return { outcome: 'stale', now, states: [], ...settledAmounts({ reserved }, units) }
    }
    const { plan } = result
    if (plan.does === 'nothing')
      return { outcome: plan.outcome, now, states: [], ...settledAmounts(plan.settled, units) }
    if (plan.does !== 'commit') return { outcome: 'settled', now, states: [], ...settledAmounts({}, units) }
    const charged = added ?? plan.excess
    return { added: charged, outcome: 'settled', now, states, ...commitAnswer(plan, charged) }
  }

  list(request: ListHoldsRequest): Promise<ListHoldsReply> {
    return this.#calls.followed(() => this.#list(request))
  }

  async #list({ subject }: ListHoldsRequest): Promise<ListHoldsReply> {
    const names = await this.#indexes.first(this.#keys.holdsOf(subject), MOST_LISTED)
    const holds = await Promise.all(
      names.map(async (name): Promise<HoldRecord | undefined> => {
        const id = this.#keys.readRecord(name)?.id
        const place = this.#keys.placeNamed(name)
        if (id === undefined || place === undefined) return undefined
        const { record, now } = await this.#changes.find(place)
        if (!isOpenHold(record) || record.hold.endsAt <= now) return undefined
        const { nonce, fingerprint, hold } = record
        const { costs, takenAt, endsAt } = hold
        const charged = chargedIn(hold, subject, this.#keys)
        return { id, nonce, fingerprint, costs, takenAt, endsAt, charged }
      }),
    )
    return { holds: holds.filter((hold) => hold !== undefined) }
  }

  async sweep(): Promise<SweepReply> {
    await this.sweeper.sweep()
    return { ended: this.#changes.drainExpired(), open: await this.#indexes.count(this.#keys.holds) }
  }

  /** Ends a hold if it has expired. @returns false if it has not, or if another process was faster */
  async endAt(place: RecordPlace): Promise<boolean> {
    const { isDone, result } = await this.#changes.change<boolean>(
      place,
      (stored, at) => {
        if (!isOpenHold(stored)) return { result: false, change: stored === undefined ? 'forget' : undefined }
        const { ended } = seenAt(stored, at)
        return { result: true, change: ended && { ...ended, skipsDamaged: true }, needsNow: true }
      },
      true,
    )
    return isDone && result
  }

  async #endNamed(name: string): Promise<boolean> {
    const place = this.#keys.placeNamed(name)
    return place !== undefined && this.endAt(place)
  }

  #planned(request: SettleHoldRequest, stored: IdRecord | undefined, at: number): Decided<Planned> {
    const { units } = this.#keys.schema
    const { id, subject, set, quotas, periods, overrun } = request
    const { record, ended } = seenAt(stored, at)
    const plan = planSettlement(request, record, units)
    const result = { plan, record }
    if (plan.does === 'nothing') return { result, change: ended }
    if (plan.does === 'mark') return { result, change: { after: cancelledRecord(id), keepMs: id.ttlMs } }
    if (record?.hold === undefined) throw new TypeError('a settlement without a hold')
    const { hold } = record
    const settled = { mark: newMark(), hold: { ...hold, charges: [] } }
    const within =
      ended === undefined
        ? { until: record.state === 'reserved' ? hold.endsAt : undefined }
        : { from: ended.from, expired: ended.expired }
    const base = { keepMs: hold.keepMs, ...within }
    if (plan.does === 'cancel') {
      return { result, change: { ...base, after: { ...record, ...settled, state: 'cancelled' } } }
    }
    const isFit = overrun === 'fit' && plan.isMore
    const answer = isFit ? undefined : answerToKeep(commitAnswer(plan, plan.excess), hold, units)
    const after = { ...record, ...settled, state: 'committed', hold: { ...settled.hold, answer } } as const
    // A hold that expired before any sweep is refunded in full: the commit pays for itself.
    const mostBack = ended === undefined ? plan.mostBack : undefined
    const take = { subject, set, quotas, periods, settingsRevision: undefined }
    const { actual, within: held, excess } = plan
    const of = { actual: named(units, actual), within: named(units, held), excess: named(units, excess) }
    const more = {
      ...({ mode: isFit ? 'fit' : 'charge', take, costs: excess } as const),
      behind: isFit ? ({ of: 'commit', plan: of } as const) : undefined,
    }
    return { result, change: { ...base, after, mostBack, more: plan.isMore ? more : undefined } }
  }

  #placeOf({ subject, id }: HoldRef): RecordPlace {
    return this.#keys.recordPlace(subject, id.id)
  }
}

interface Planned {
  readonly plan: ReturnType<typeof planSettlement>
  readonly record: IdRecord | undefined
}

/** The outcome of a growth, if it is applied. */
type GrowthResult = Pick<HoldReply, 'outcome' | 'endsAt'> & { readonly isCharged?: boolean | undefined }

/** Decides on a growth. */
function growthOf(request: GrowRequest, units: readonly string[]): Decide<GrowthResult> {
  const { subject, set, quotas, periods, settingsRevision, costs, id } = request
  const take = { subject, set, quotas, periods, settingsRevision }
  // The record keeps it, so that a growth whose reply was lost is not charged again.
  const mark = newMark()
  return (stored, at): Decided<GrowthResult> => {
    const { record, ended } = seenAt(stored, at)
    const outcome = holdOutcome(record, id)
    if (outcome !== 'held' || !isOpenHold(record)) return { result: { outcome }, change: ended }
    const { hold } = record
    const { endsAt } = hold
    // An earlier attempt, whose reply was lost, has applied it.
    if (hold.growths.includes(mark)) return { result: { outcome, endsAt } }
    const within = { keepMs: hold.keepMs, until: endsAt }
    const all = grownCosts(hold.costs, named(units, costs))
    if (all === undefined) {
      // Nothing is charged. The states are read in the same step that finds the hold open.
      const nothing = { mode: 'charge', take, costs: units.map(() => 0) } as const
      const change = { ...within, after: { ...record, mark: newMark() }, more: nothing }
      return { result: { outcome: 'refused' }, change }
    }
    const grown = { ...hold, costs: all, growths: withGrowth(hold.growths, mark) }
    const more = { mode: 'take', take, costs: costs.slice(0, units.length), behind: { of: 'growth' } } as const
    const change = { ...within, after: { ...record, mark: newMark(), hold: grown }, more }
    return { result: { outcome, endsAt, isCharged: true }, change }
  }
}

/** The reply to a growth. */
function growthReply({ result, now, states, status, settingsRevision }: Changed<GrowthResult>): HoldReply {
  const { isCharged, ...reply } = result
  if (status === 'other_settings') return { outcome: 'stale', now, states: [], settingsRevision }
  if (status === 'other_periods') return { outcome: 'stale', now, states: [] }
  if (isCharged === true && status === 'refused') return { outcome: 'refused', now, states }
  return { ...reply, now, states }
}
