import {
  type AdmittedDecision,
  type Decision,
  type LimitStatus,
  listedLimits,
  type UncountedLimit,
} from '../../decision/decision.ts'
import type { LimitNumbers, Policy } from '../../policy/policy.ts'
import type { Threshold } from '../../policy/settings.ts'
import { unitNames } from '../../policy/units.ts'
import { hundredths } from '../../policy/values.ts'
import type { Subject } from '../../store/subjects.ts'
import { MAX_USED } from '../../windows/row.ts'
import type { Events } from '../events.ts'
import { runAsync, type Task } from './store-call.ts'

/** The most limits with open reservations, and holds, that are tracked. Above that, the oldest count as final. */
const MAX_TRACKED = 50_000

export interface NearLimitsDeps {
  readonly policy: Policy
  readonly events: Events
  readonly thresholds: () => readonly Threshold[]
  /** Reads a subject's limits. @returns them after a charge of `costs` */
  readonly read: (of: Payer, costs: readonly number[]) => Task<AdmittedDecision>
}

/** Who was charged, and which limits. */
export interface Payer {
  readonly subject: Subject
  /** Which limits count it: an index of the schema's `sets`. */
  readonly set: number
  readonly operation: string
  readonly plan?: string | undefined
  readonly numbers?: LimitNumbers | undefined
}

/** A reservation of this process whose cost isn't final. */
export interface OpenReservation {
  readonly of: Payer
  /** When its hold expires, in epoch milliseconds; `undefined`: it isn't a hold. */
  endsAt: number | undefined
  /** The limits that it counts in, by key. */
  readonly cells: Map<string, Cell>
}

/** A limit with open charges. */
interface Cell {
  /** What each of them has of this limit. */
  readonly open: Map<OpenReservation, number>
  /** Thresholds that were crossed before everything was final, and by which decision. */
  readonly waiting: Map<Threshold, AdmittedDecision>
}

/**
 * Emits `nearLimit` when what is final crosses a threshold. The store counts all charges in one order, so exactly one
 * charge makes each crossing, across all processes. A crossing by a reservation, or while others are open in this
 * process, waits until they are settled. Then the limit is read: it is near without them, or it has fallen below, or
 * the crossing waits for the rest.
 */
export class NearLimits {
  readonly #deps: NearLimitsDeps
  readonly #units: readonly string[]
  readonly #cells = new Map<string, Cell>()
  /** Charges of holds by nonce, because any handle of a hold can settle it. */
  readonly #holds = new Map<string, OpenReservation>()

  constructor(deps: NearLimitsDeps) {
    this.#deps = deps
    this.#units = unitNames(deps.policy)
  }

  get #isHeard(): boolean {
    const { events } = this.#deps
    return events.hasDecisionListeners && events.hasListeners('nearLimit')
  }

  /**
   * Handles a charge.
   *
   * @param costs one per unit and the slots
   * @param open the reservation that it belongs to; `undefined`: it is final
   */
  charged(decision: AdmittedDecision, costs: readonly number[], open?: OpenReservation): void {
    if (open === undefined && !this.#isHeard) return
    for (const limit of listedLimits(decision.limits)) {
      const amount = (isSlots(limit) ? costs.at(-1) : costs[this.#units.indexOf(limit.unit)]) ?? 0
      if (limit.used !== null && amount > 0) this.#count(decision, limit, amount, open)
    }
  }

  #count(decision: AdmittedDecision, limit: LimitStatus, amount: number, open: OpenReservation | undefined): void {
    const crossed = this.#crossed(limit, amount)
    const cell = this.#cellOf(decision.subject, limit, open)
    if (cell === undefined) {
      this.#emit(decision, limit, crossed)
      return
    }
    if (open !== undefined) cell.open.set(open, amount + (cell.open.get(open) ?? 0))
    for (const threshold of crossed) cell.waiting.set(threshold, decision)
    this.#resolve(cell, limit, decision.now)
  }

  /**
   * Handles a reservation.
   *
   * @param of with what it reserves: an amount per unit, and the slots
   * @param hold its nonce and when it expires, if it is one
   * @returns what to settle; `undefined` while there is no listener
   */
  reserved(
    of: Payer & { readonly costs: readonly number[] },
    decision: AdmittedDecision,
    hold?: { readonly nonce: string; readonly endsAt: number },
  ): OpenReservation | undefined {
    if (!this.#isHeard) return undefined
    const charge = { of, endsAt: hold?.endsAt, cells: new Map<string, Cell>() }
    if (hold !== undefined) put(this.#holds, hold.nonce, charge)
    this.charged(decision, of.costs, charge)
    return charge
  }

  /** Returns the charge of a hold that this process reserved. */
  holdOf(nonce: string): OpenReservation | undefined {
    return this.#holds.get(nonce)
  }

  /** Handles the end of a hold. @returns its charge, to settle, if this process reserved it */
  ended(nonce: string): OpenReservation | undefined {
    const charge = this.#holds.get(nonce)
    this.#holds.delete(nonce)
    return charge
  }

  /** Handles the end of a charge, when the store has settled it. */
  settled(charge: OpenReservation): void {
    const cells = [...charge.cells.values()]
    for (const { open } of cells) open.delete(charge)
    if (cells.some(({ waiting }) => waiting.size > 0)) this.#start(this.#checked(charge))
    else this.#forget(charge)
  }

  /** Handles the commit of a hold that another process reserved. @param costs what stays charged */
  committed(of: Payer, costs: readonly number[]): void {
    if (this.#isHeard) this.#start(this.#charged(of, costs))
  }

  *#charged(of: Payer, costs: readonly number[]): Task<void> {
    this.charged(yield* this.#deps.read(of, costs), costs)
  }

  /** Reads the limits of a settled charge, and decides about the crossings that wait there. */
  *#checked(charge: OpenReservation): Task<void> {
    // The count may include any charge that is open now or when the reply arrives.
    const before = new Map([...charge.cells].map(([key, { open }]) => [key, [...open]]))
    const { limits, subject, now } = yield* this.#deps.read(charge.of, [])
    const current = new Map(listedLimits(limits).map((limit) => [this.#key(subject, limit), limit]))
    for (const [key, cell] of charge.cells) {
      const limit = current.get(key)
      // Its window is over.
      if (limit === undefined || limit.used === null) cell.waiting.clear()
      else this.#resolve(cell, limit, now, before.get(key))
    }
    this.#forget(charge)
  }

  /** Whatever fails, later charges decide about the crossings that wait. */
  #start(task: Task<void>): void {
    runAsync(task).catch(() => undefined)
  }

  /** Decides about the crossings that wait at a limit. @param before charges that its count may include, too */
  #resolve(
    cell: Cell,
    limit: LimitStatus,
    now: number,
    before: readonly (readonly [OpenReservation, number])[] = [],
  ): void {
    if (cell.waiting.size === 0) return
    const open = [...new Map([...before, ...cell.open])].filter(([{ endsAt }]) => endsAt === undefined || endsAt > now)
    const final = open.reduce((used, [, amount]) => used - amount, limit.used)
    for (const [threshold, decision] of cell.waiting) {
      const isOver = !isNear(limit, limit.used, threshold)
      if (!isOver && !isNear(limit, final, threshold)) continue
      cell.waiting.delete(threshold)
      if (!isOver) this.#emit(decision, limit, [threshold])
    }
  }

  #emit(decision: Decision, limit: LimitStatus, thresholds: readonly Threshold[]): void {
    const { subject } = decision
    for (const threshold of thresholds) this.#deps.events.emit('nearLimit', { subject, decision, limit, threshold })
  }

  /** Returns the thresholds that a charge took a limit across. */
  #crossed(limit: LimitStatus, charged: number): readonly Threshold[] {
    // The count stops at this value, which is above any limit. Its value before the charge is unknown.
    if (limit.used === MAX_USED) return []
    return this.#deps.thresholds().filter((threshold) => {
      const isOfUnit = threshold.unit === undefined || threshold.unit === limit.unit
      return isOfUnit && isNear(limit, limit.used, threshold) && !isNear(limit, limit.used - charged, threshold)
    })
  }

  /** Returns the limit's cell, if it has open charges. @param open begins to have the cell */
  #cellOf(subject: Subject, limit: LimitStatus, open: OpenReservation | undefined): Cell | undefined {
    // A slot is taken until the work ends, whatever it costs.
    if (isSlots(limit) || limit.limit === 'unlimited') return undefined
    if (open === undefined && this.#cells.size === 0) return undefined
    const key = this.#key(subject, limit)
    const known = this.#cells.get(key)
    if (open === undefined) return known
    const cell = known ?? { open: new Map(), waiting: new Map() }
    if (known === undefined) put(this.#cells, key, cell)
    open.cells.set(key, cell)
    return cell
  }

  /** Names a limit's current count. A bucket's count never starts again. */
  #key(subject: Subject, { name, by, kind, startedAt }: LimitStatus | UncountedLimit): string {
    const own = typeof subject === 'string' || by === undefined ? subject : subject[by]
    return JSON.stringify([name, by === undefined ? '' : own, kind === 'bucket' || startedAt])
  }

  /** Removes the limits of a charge at which nothing is open or waits. */
  #forget({ cells }: OpenReservation): void {
    for (const [key, { open, waiting }] of cells) if (open.size + waiting.size === 0) this.#cells.delete(key)
  }
}

/** Adds an entry. Removes the oldest if there are too many. */
function put<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= MAX_TRACKED) return
    map.delete(oldest)
  }
}

function isSlots({ kind }: LimitStatus | UncountedLimit): boolean {
  return kind === 'concurrency'
}

/** Whether a count is near the limit, or for a bucket near what it holds. */
function isNear({ limit: perTime, burst: limit = perTime }: LimitStatus, used: number, threshold: Threshold): boolean {
  if (limit === 'unlimited') return false
  return 'left' in threshold ? limit - used <= threshold.left : used * 100 >= limit * hundredths(threshold.share)!
}
