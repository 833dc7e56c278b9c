import type { WindowStates } from '../decision/decide.ts'
import { MAX_USED } from '../windows/row.ts'
import { type Amounts, amountsIn, named, SLOTS } from '../windows/units.ts'
import type { Settled, SettleHoldOutcome, SettleHoldRequest } from './hold-port.ts'
import type { TakeReply } from './quota-store.ts'
import type { ReservationId } from './schema.ts'

/**
 * What reservations under an id come to: pure functions of a record, the same for every store. How a record is kept, and how
 * an amount goes back to a row, is the store's.
 */
export interface IdFacts {
  /** `expired` is the end of a hold that nobody settled. A hold past its end has to be passed as one that expired. */
  readonly state: 'reserved' | 'committed' | 'cancelled' | 'expired'
  readonly nonce: string
  readonly fingerprint: string
  /** States of the reply that admitted it; empty for an id cancelled before it was reserved. */
  readonly states: WindowStates
  /** There if it is a hold's. */
  readonly hold?: HoldFactsOf | undefined
}

/** What the rules read of a hold. */
export interface HoldFactsOf {
  /** What the hold has, or had. */
  readonly costs: Amounts
  /** Epoch milliseconds. */
  readonly endsAt: number
  /** The answer of the commit that settled it; absent where that charged what the hold had. */
  readonly answer?: Settled<Amounts> | undefined
}

/** The answer to a take under an id that is known. */
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

/** Whether a settlement without a hold is this nonce's to make: of an id that is reserved, and no hold. */
export function isToSettle(record: IdFacts | undefined, id: ReservationId): record is IdFacts {
  return record?.state === 'reserved' && record.nonce === id.nonce && record.hold === undefined
}

/** What a call on a hold finds of it. */
export function holdOutcome(
  record: IdFacts | undefined,
  id: ReservationId,
): 'held' | 'expired' | 'settled' | 'unknown' {
  if (record?.hold === undefined || record.nonce !== id.nonce) return 'unknown'
  if (record.state === 'reserved') return 'held'
  return record.state === 'expired' ? 'expired' : 'settled'
}

/** When a hold ends after it was extended, epoch milliseconds: never earlier than before. */
export function extendedEnd({ endsAt }: HoldFactsOf, ttlMs: number, now: number): number {
  return Math.max(endsAt, now + ttlMs)
}

/** What is to be done about a settlement. */
export type SettlementPlan =
  /** Nothing: it is answered as it stands. */
  | { readonly does: 'nothing'; readonly outcome: SettleHoldOutcome; readonly settled: Partial<Settled<Amounts>> }
  /** The id is marked cancelled, so that a delayed take cannot charge. */
  | { readonly does: 'mark' }
  /** All goes back. */
  | { readonly does: 'cancel' }
  | CommitPlan

/** A commit, unit by unit of the schema. */
export interface CommitPlan {
  readonly does: 'commit'
  /** What the hold had. */
  readonly reserved: readonly number[]
  /** What the work cost. */
  readonly actual: readonly number[]
  /** What of that the hold pays: nothing after its end. */
  readonly within: readonly number[]
  /** What is to be charged beyond, at the most: as `overrun` says. */
  readonly excess: readonly number[]
  /** Whether anything is to be charged beyond. */
  readonly isMore: boolean
  /** What goes back of a unit at the most; of units that the schema does not have nothing, of slots always all. */
  readonly mostBack: (unit: string) => number
}

/** The end of a hold by its holder. */
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

/** A commit of an open hold, or a late one. */
function planCommit(
  { actual: asked, overrun, maxOverrun }: Pick<SettleHoldRequest, 'actual' | 'overrun' | 'maxOverrun'>,
  { costs }: HoldFactsOf,
  isLate: boolean,
  units: readonly string[],
): SettlementPlan {
  const reserved = amountsIn(units, costs)
  const actual = reserved.map((amount, u) => asked?.[u] ?? amount)
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

/** What a commit came to. @param added what was charged beyond what the hold had, one number a unit */
export function commitAnswer(
  { reserved, actual, within }: Pick<CommitPlan, 'reserved' | 'actual' | 'within'>,
  added: readonly number[],
): Settled {
  const charged = within.map((amount, u) => amount + added[u]!)
  return { charged, uncharged: actual.map((amount, u) => amount - charged[u]!), reserved }
}

/** What a record keeps of that; nothing where it charged what the hold had, as most do. */
export function answerToKeep(
  { charged, uncharged, reserved }: Settled,
  { costs }: HoldFactsOf,
  units: readonly string[],
): Settled<Amounts> | undefined {
  const isAsReserved = charged.every((amount, u) => amount === reserved[u] && uncharged[u] === 0)
  if (isAsReserved) return undefined
  return { charged: named(units, charged), uncharged: named(units, uncharged), reserved: costs }
}

/** What a record says that a commit came to, in a schema's units. */
export function settledAmounts(settled: Partial<Settled<Amounts>>, units: readonly string[]): Settled {
  const { charged = {}, uncharged = {}, reserved = {} } = settled
  return {
    charged: amountsIn(units, charged),
    uncharged: amountsIn(units, uncharged),
    reserved: amountsIn(units, reserved),
  }
}

/** How much of what was charged to a cell goes back to it. @param most of a unit; slots go back whole */
export function amountBack(charged: number, unit: string, most: (unit: string) => number): number {
  return unit === SLOTS ? charged : Math.min(charged, most(unit))
}

/** Returns what a hold has of each unit after it grew; `undefined`: more than is exact, so that it may not. */
export function grownCosts(before: Amounts, more: Amounts): Amounts | undefined {
  const units = new Set([...Object.keys(before), ...Object.keys(more)])
  const grown = [...units].map((unit) => [unit, (before[unit] ?? 0) + (more[unit] ?? 0)] as const)
  return grown.some(([, amount]) => amount > MAX_USED) ? undefined : Object.fromEntries(grown)
}

/**
 * What a hold has in a cell after it grew. Of each window it knows one opening: a newer one means that the older has ended, so
 * that nothing can go back there.
 *
 * @returns the start of the opening, and what the hold was charged in it
 */
export function grownCharge(
  [startedAt, amount]: readonly [startedAt: number, amount: number],
  [newStart, more]: readonly [startedAt: number, amount: number],
): readonly [startedAt: number, amount: number] {
  if (more === 0) return [startedAt, amount]
  return [newStart, newStart === startedAt ? amount + more : more]
}
