import type { AdmittedDecision, Decision, UncountedWindow, WindowStatus } from '../../decision/decision.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Threshold } from '../../policy/settings.ts'
import { unitNames } from '../../policy/units.ts'
import { hundredths } from '../../policy/values.ts'
import type { Subject } from '../../store/schema.ts'
import { MAX_USED } from '../../windows/row.ts'
import { SLOTS } from '../../windows/units.ts'
import type { Events } from '../events.ts'
import { runAsync, type Task } from './task.ts'

/** The most limits with open reservations, and holds, that are tracked. Above that, the oldest count as final. */
const MAX_TRACKED = 50_000

export interface NearLimitsDeps {
  readonly policy: Policy
  readonly events: Events
  readonly thresholds: () => readonly Threshold[]
  /** Reads a subject's limits. @returns them after a charge of `costs` */
  readonly read: (of: ChargeOf, costs: readonly number[]) => Task<AdmittedDecision>
}

/** Who was charged, and which limits. */
export interface ChargeOf {
  readonly subject: Subject
  /** Which limits count it: an index of the schema's `sets`. */
  readonly set: number
  readonly operation: string
  readonly plan?: string | undefined
}

/** A reservation of this process whose cost isn't final. */
export interface OpenCharge {
  readonly of: ChargeOf
  /** When its hold expires, in epoch milliseconds; `undefined`: it isn't a hold. */
  endsAt: number | undefined
  /** The limits that it counts in. */
  readonly keys: Set<string>
}

/** A limit with open charges. */
interface Cell {
  /** What each of them has of this limit. */
  readonly open: Map<OpenCharge, number>
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
  readonly #shared: ReadonlySet<string>
  readonly #cells = new Map<string, Cell>()
  /** Charges of holds by nonce, because any handle of a hold can settle it. */
  readonly #holds = new Map<string, OpenCharge>()

  constructor(deps: NearLimitsDeps) {
    this.#deps = deps
    this.#units = unitNames(deps.policy)
    this.#shared = new Set(deps.policy.layers.filter(({ shared }) => shared).map(({ name }) => name))
  }

  get #isHeard(): boolean {
    return this.#deps.events.hasListeners('nearLimit')
  }

  /** Handles a charge that is final. @param costs of the charge, one per unit and the slots */
  charged(decision: AdmittedDecision, costs: readonly number[]): void {
    if (!this.#isHeard) return
    for (const window of decision.windows.filter(isCounted)) {
      const crossed = this.#crossed(window, this.#chargedIn(window, costs))
      const cell = this.#cells.size === 0 ? undefined : this.#cells.get(this.#key(decision.subject, window))
      if (cell === undefined || isSlots(window)) this.#emit(decision, window, crossed)
      else {
        for (const threshold of crossed) cell.waiting.set(threshold, decision)
        this.#resolve(cell, window, cell.open, decision.now)
      }
    }
  }

  /**
   * Handles a charge that isn't final.
   *
   * @param hold its nonce and when it expires, if it is one
   * @returns what to settle; `undefined` while there is no listener
   */
  reserved(
    of: ChargeOf,
    decision: AdmittedDecision,
    costs: readonly number[],
    hold?: { readonly nonce: string; readonly endsAt: number },
  ): OpenCharge | undefined {
    if (!this.#isHeard) return undefined
    const charge = { of, endsAt: hold?.endsAt, keys: new Set<string>() }
    if (hold !== undefined) put(this.#holds, hold.nonce, charge)
    this.grown(charge, decision, costs)
    return charge
  }

  /** Returns the charge of a hold that this process reserved. */
  holdOf(nonce: string): OpenCharge | undefined {
    return this.#holds.get(nonce)
  }

  /** Handles an addition to a charge that isn't final. */
  grown(charge: OpenCharge, decision: AdmittedDecision, costs: readonly number[]): void {
    for (const window of decision.windows.filter(isCounted)) {
      const charged = this.#chargedIn(window, costs)
      const crossed = this.#crossed(window, charged)
      // A slot is taken until the work ends, whatever it costs.
      if (isSlots(window)) this.#emit(decision, window, crossed)
      else if (charged > 0 && window.limit !== 'unlimited') {
        const key = this.#key(decision.subject, window)
        const cell = this.#cellOf(key)
        charge.keys.add(key)
        cell.open.set(charge, charged + (cell.open.get(charge) ?? 0))
        for (const threshold of crossed) cell.waiting.set(threshold, decision)
      }
    }
  }

  /**
   * Handles the end of a charge, when the store has settled it.
   *
   * @param more the limits after a charge above the reserved amount, if there was one
   */
  settled(charge: OpenCharge, more?: { readonly decision: AdmittedDecision; readonly costs: readonly number[] }): void {
    const cells = [...charge.keys].map((key) => this.#cells.get(key))
    for (const cell of cells) cell?.open.delete(charge)
    if (more !== undefined) this.charged(more.decision, more.costs)
    if (cells.some((cell) => cell !== undefined && cell.waiting.size > 0)) this.#start(this.#checked(charge))
    else this.#forget(charge, () => true)
  }

  /** Handles the end of a hold. @returns its charge, to settle, if this process reserved it */
  ended(nonce: string): OpenCharge | undefined {
    const charge = this.#holds.get(nonce)
    this.#holds.delete(nonce)
    return charge
  }

  /** Handles the commit of a hold that another process reserved. @param costs what stays charged */
  committed(of: ChargeOf, costs: readonly number[]): void {
    if (this.#isHeard) this.#start(this.#charged(of, costs))
  }

  *#charged(of: ChargeOf, costs: readonly number[]): Task<void> {
    this.charged(yield* this.#deps.read(of, costs), costs)
  }

  /** Reads the limits of a settled charge, and decides about the crossings that wait there. */
  *#checked(charge: OpenCharge): Task<void> {
    const cells = [...charge.keys].map((key) => [key, this.#cells.get(key)] as const)
    // The count may include any charge that is open now or when the reply arrives.
    const before = new Map(cells.map(([key, cell]) => [key, new Map(cell?.open)]))
    const decision = yield* this.#deps.read(charge.of, [])
    const current = new Set<string>()
    for (const window of decision.windows.filter(isCounted)) {
      const key = this.#key(decision.subject, window)
      const cell = this.#cells.get(key)
      current.add(key)
      if (cell !== undefined) this.#resolve(cell, window, [...(before.get(key) ?? []), ...cell.open], decision.now)
    }
    this.#forget(charge, (key, cell) => cell.waiting.size === 0 || !current.has(key))
  }

  /** Whatever fails, later charges decide about the crossings that wait. */
  #start(task: Task<void>): void {
    runAsync(task).catch(() => undefined)
  }

  /** Decides about the crossings that wait at a limit. @param open charges that its count may include */
  #resolve(cell: Cell, window: WindowStatus, open: Iterable<readonly [OpenCharge, number]>, now: number): void {
    if (cell.waiting.size === 0) return
    const isOpen = ({ endsAt }: OpenCharge): boolean => (endsAt ?? Number.POSITIVE_INFINITY) > now
    const amounts = [...new Map(open)].map(([charge, amount]) => (isOpen(charge) ? amount : 0))
    const final = window.used - amounts.reduce((sum, amount) => sum + amount, 0)
    for (const [threshold, decision] of cell.waiting) {
      const isOver = !isNear(window, window.used, threshold)
      if (!isOver && !isNear(window, final, threshold)) continue
      cell.waiting.delete(threshold)
      if (!isOver) this.#emit(decision, window, [threshold])
    }
  }

  #emit(decision: Decision, window: WindowStatus, thresholds: readonly Threshold[]): void {
    const { subject } = decision
    for (const threshold of thresholds) this.#deps.events.emit('nearLimit', { subject, decision, window, threshold })
  }

  /** Returns the thresholds that a charge took a limit across. */
  #crossed(window: WindowStatus, charged: number): readonly Threshold[] {
    // The count stops at this value, which is above any limit. Its value before the charge is unknown.
    if (charged === 0 || window.used === MAX_USED) return []
    const unit = this.#unitOf(window)
    return this.#deps
      .thresholds()
      .filter((threshold) => threshold.unit === undefined || threshold.unit === unit)
      .filter(
        (threshold) => isNear(window, window.used, threshold) && !isNear(window, window.used - charged, threshold),
      )
  }

  #chargedIn(window: WindowStatus, costs: readonly number[]): number {
    return (isSlots(window) ? costs.at(-1) : costs[this.#units.indexOf(this.#unitOf(window))]) ?? 0
  }

  #unitOf(window: WindowStatus): string {
    return window.unit ?? (isSlots(window) ? SLOTS : this.#units[0]!)
  }

  /** Names a limit's current count. A bucket's count never starts again. */
  #key(subject: Subject, { layer, category, window, kind, startedAt }: WindowStatus): string {
    const own = typeof subject === 'string' ? subject : subject[layer]
    return JSON.stringify([layer, this.#shared.has(layer) ? '' : own, category, window, kind === 'bucket' || startedAt])
  }

  #cellOf(key: string): Cell {
    const known = this.#cells.get(key)
    if (known !== undefined) return known
    const cell: Cell = { open: new Map(), waiting: new Map() }
    put(this.#cells, key, cell)
    return cell
  }

  /** Removes limits of a charge that have no open charges any more. */
  #forget({ keys }: OpenCharge, isDone: (key: string, cell: Cell) => boolean): void {
    for (const key of keys) {
      const cell = this.#cells.get(key)
      if (cell?.open.size === 0 && isDone(key, cell)) this.#cells.delete(key)
    }
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

function isCounted(window: WindowStatus | UncountedWindow): window is WindowStatus {
  return window.used !== null
}

function isSlots({ kind }: WindowStatus): boolean {
  return kind === 'concurrency'
}

/** Whether a count is near the limit, or for a bucket near what it holds. */
function isNear({ limit: perTime, burst: limit = perTime }: WindowStatus, used: number, threshold: Threshold): boolean {
  if (limit === 'unlimited') return false
  return 'left' in threshold ? limit - used <= threshold.left : used * 100 >= limit * hundredths(threshold.share)!
}
