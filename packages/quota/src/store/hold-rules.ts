import type { WindowStates } from '../decision/decide.ts'
import { type Amounts, amountsIn, named, SLOTS } from '../windows/identity.ts'
import { MAX_USED } from '../windows/row.ts'
import type { Settled, SettleHoldOutcome, SettleHoldRequest } from './hold-port.ts'
import type { TakeReply } from './quota-store.ts'
import type { ReservationId } from './subjects.ts'

/**
 * The part of an id's record that these rules read. The rules are pure functions, the same for all stores. How records
 * are kept, and how amounts are refunded to rows, is up to the store.
 */
export interface IdFacts {
  /** `expired`: the hold ended unsettled. Pass a hold whose time is over as `expired`. */
  readonly state: 'reserved' | 'committed' | 'cancelled' | 'expired'
  readonly nonce: string
  readonly fingerprint: string
  /** States of the reply that admitted it; empty for an id that was cancelled before it was reserved. */
  readonly states: WindowStates
  /** Present for a hold. */
  readonly hold?: HoldFactsOf | undefined
}

/** The part of a hold that the rules read. */
export interface HoldFactsOf {
  /** The hold's amounts, even after its end. */
  readonly costs: Amounts
  /** When it expires, epoch milliseconds. */
  readonly endsAt: number
  /** The result of the commit that settled it. Absent if it charged exactly what the hold had. */
  readonly answer?: Settled<Amounts> | undefined
}

/** Returns the reply to a take with a known id. */
export function repeatedTake(record: IdFacts, id: ReservationId, now: number): TakeReply {
  const { state, states, hold } = record
  if (record.fingerprint !== id.fingerprint) return { outcome: 'conflict', now, states: [] }
  if (state === 'cancelled') return { outcome: 'cancelled', now, states: [] }
  if (record.nonce !== id.nonce) return { outcome: 'duplicate', now, states: [] }
  if (state === 'expired') return { outcome: 'expired', now, states: [] }
  return hold === undefined
    ? { outcome: 'admitted', now, states }
    : { outcome: 'admitted', now, states, endsAt: hold.endsAt }
}

/** Whether this nonce may settle: the id is reserved, and isn't a hold. */
export function isToSettle(record: IdFacts | undefined, id: ReservationId): record is IdFacts {
  return record?.state === 'reserved' && record.nonce === id.nonce && record.hold === undefined
}

/** Returns the outcome of a call on a hold. */
export function holdOutcome(
  record: IdFacts | undefined,
  id: ReservationId,
): 'held' | 'expired' | 'settled' | 'unknown' {
  if (record?.hold === undefined || record.nonce !== id.nonce) return 'unknown'
  if (record.state === 'reserved') return 'held'
  return record.state === 'expired' ? 'expired' : 'settled'
}

/** Returns when an extended hold expires, in epoch milliseconds: never earlier than before. */
export function extendedEnd({ endsAt }: HoldFactsOf, ttlMs: number, now: number): number {
  return Math.max(endsAt, now + ttlMs)
}

/** How to carry out a settlement. */
export type SettlementPlan =
  /** Do nothing, and return this result. */
  | { readonly does: 'nothing'; readonly outcome: SettleHoldOutcome; readonly settled: Partial<Settled<Amounts>> }
  /** Mark the id as cancelled, so that a delayed take cannot charge. */
  | { readonly does: 'mark' }
  /** Refund everything. */
  | { readonly does: 'cancel' }
  | CommitPlan

/** A commit, by the schema's units. */
export interface CommitPlan {
  readonly does: 'commit'
  /** The hold's amounts. */
  readonly reserved: readonly number[]
  /** The actual cost. */
  readonly actual: readonly number[]
  /** The part of it that the hold covers: nothing after its end. */
  readonly within: readonly number[]
  /** The most to charge in addition, according to `overrun`. */
  readonly excess: readonly number[]
  /** Whether anything is charged in addition. */
  readonly isMore: boolean
  /** The most to refund of a unit: nothing of unknown units, all slots. */
  readonly mostBack: (unit: string) => number
}

/** Plans a settlement by the hold's holder. */
export function planSettlement(
  request: Pick<SettleHoldRequest, 'as' | 'id' | 'actual' | 'overrun' | 'maxOverrun'>,
  record: IdFacts | undefined,
  units: readonly string[],
): SettlementPlan {
  const found = holdOutcome(record, request.id)
  if (request.as === 'cancelled') {
    if (record === undefined) return { does: 'mark' }
    return found === 'held' ? { does: 'cancel' } : nothing(found === 'unknown' ? 'unknown' : 'settled')
  }
  if (found === 'unknown') return nothing('unknown')
  const { state, hold } = record as IdFacts & { readonly hold: HoldFactsOf }
  const { costs } = hold
  if (state === 'committed') return nothing('settled', hold.answer ?? { charged: costs, reserved: costs })
  if (state === 'cancelled') return nothing('cancelled')
  return planCommit(request, hold, state === 'expired', units)
}

/** Plans a commit of an open hold, or a late one. */
function planCommit(
  { actual: given, overrun, maxOverrun }: Pick<SettleHoldRequest, 'actual' | 'overrun' | 'maxOverrun'>,
  { costs }: HoldFactsOf,
  isLate: boolean,
  units: readonly string[],
): SettlementPlan {
  const reserved = amountsIn(units, costs)
  const actual = reserved.map((amount, u) => given?.[u] ?? amount)
  const within = isLate ? reserved.map(() => 0) : actual.map((amount, u) => Math.min(amount, reserved[u]!))
  const most = isLate ? maxOverrun.map((amount, u) => reserved[u]! + amount) : maxOverrun
  const isAbove = actual.some((amount, u) => amount > within[u]!)
  if (isLate && overrun !== 'charge') return nothing('expired', { reserved: costs })
  if (!isLate && isAbove && overrun === 'refuse') return nothing('above', { reserved: costs })
  const excess = actual.map((amount, u) => Math.min(amount - within[u]!, most[u]!))
  const mostBack = (unit: string): number => {
    const u = units.indexOf(unit)
    return u === -1 ? 0 : reserved[u]! - within[u]!
  }
  const isMore = excess.some((amount) => amount > 0)
  return { does: 'commit', reserved, actual, within, excess, isMore, mostBack }
}

function nothing(outcome: SettleHoldOutcome, settled: Partial<Settled<Amounts>> = {}): SettlementPlan {
  return { does: 'nothing', outcome, settled }
}

/** Returns the result of a commit. @param added the additional charge, one number per unit */
export function commitAnswer(
  { reserved, actual, within }: Pick<CommitPlan, 'reserved' | 'actual' | 'within'>,
  added: readonly number[],
): Settled {
  const charged = within.map((amount, u) => amount + added[u]!)
  return { charged, uncharged: actual.map((amount, u) => amount - charged[u]!), reserved }
}

/** Returns the part of a result to keep in the record; nothing if it charged exactly what the hold had, as usual. */
export function answerToKeep(
  { charged, uncharged, reserved }: Settled,
  { costs }: HoldFactsOf,
  units: readonly string[],
): Settled<Amounts> | undefined {
  const isAsReserved = charged.every((amount, u) => amount === reserved[u] && uncharged[u] === 0)
  if (isAsReserved) return undefined
  return { charged: named(units, charged), uncharged: named(units, uncharged), reserved: costs }
}

/** Converts the result of a commit from a record to a schema's units. */
export function settledAmounts(settled: Partial<Settled<Amounts>>, units: readonly string[]): Settled {
  const { charged = {}, uncharged = {}, reserved = {} } = settled
  return {
    charged: amountsIn(units, charged),
    uncharged: amountsIn(units, uncharged),
    reserved: amountsIn(units, reserved),
  }
}

/** Returns how much of a cell's charge to refund. @param most of a unit; slots are refunded completely */
export function amountBack(charged: number, unit: string, most: (unit: string) => number): number {
  return unit === SLOTS ? charged : Math.min(charged, most(unit))
}

/** Returns what a hold has of each unit after it has grown; `undefined`: too much to be exact, so it can't grow. */
export function grownCosts(before: Amounts, more: Amounts): Amounts | undefined {
  const units = new Set([...Object.keys(before), ...Object.keys(more)])
  const grown = [...units].map((unit) => [unit, (before[unit] ?? 0) + (more[unit] ?? 0)] as const)
  return grown.some(([, amount]) => amount > MAX_USED) ? undefined : Object.fromEntries(grown)
}

/**
 * Returns what a hold has in a cell after it has grown. A hold knows one opening per window. A newer one means that the
 * older has ended and can't be refunded.
 *
 * @returns the start of the opening, and the hold's charge in it
 */
export function grownCharge(
  [startedAt, amount]: readonly [startedAt: number, amount: number],
  [newStart, more]: readonly [startedAt: number, amount: number],
): readonly [startedAt: number, amount: number] {
  if (more === 0) return [startedAt, amount]
  return [newStart, newStart === startedAt ? amount + more : more]
}
