import type { End, HoldRecord, Rule, Shared, Work } from './model-parts.ts'
import { endOf, Window, type WindowKind } from './model-windows.ts'

const KIND: WindowKind = { ticks: 7 }
/** One user at each process: one who soon has nothing left, one who always has. */
export const PERSONAL_LIMITS: readonly number[] = [4, 30]
/** How long a hold lasts. */
export const HOLD_TICKS = 6

/** The own rows of one user, and the holds behind them: one slot, in which each of these is one step. */
export class ModelOwn {
  readonly window: Window = new Window(KIND)
  readonly records: HoldRecord[] = []
  readonly #without: Rule | undefined
  readonly #limit: number

  constructor(limit: number, without: Rule | undefined) {
    this.#limit = limit
    this.#without = without
  }

  /** Charges a cost; whether it fits. */
  charge(work: Work, now: number): boolean {
    const used = this.window.isOpen(now) ? this.window.used : 0
    if (used + work.cost > this.#limit) return false
    this.window.charge(now, work.cost)
    work.personalStart = this.window.start
    return true
  }

  /** As if the charge had never been. @param others whether another work has tokens in the window */
  undo(work: Work, others: boolean): void {
    this.window.refund(work.personalStart, work.cost)
    const { start, used, isClosed } = this.window
    const isEmpty = !isClosed && start === work.personalStart && used === 0
    if (isEmpty && !others && this.#without !== 'close what was opened in vain') this.window.close()
    work.personalStart = 0
    const record = this.recordOf(work)
    if (record !== undefined && this.#without !== 'undo a hold as a whole') {
      this.records.splice(this.records.indexOf(record), 1)
    }
  }

  refund(work: Work): void {
    this.window.refund(work.personalStart, work.cost)
  }

  recordOf(work: Work): HoldRecord | undefined {
    return this.records.find((record) => record.work === work)
  }

  /** Charges and records a hold; whether it fits. */
  hold(work: Work, now: number, mark: number, shared: Shared | undefined): boolean {
    if (!this.charge(work, now)) return false
    const { personalStart } = work
    this.records.push({ version: mark, work, mark, shared, personalStart, endsAt: now + HOLD_TICKS, state: 'open' })
    return true
  }

  /** Ends a hold if its record is the one that this was decided on; whether it did, by this sending or an earlier one. */
  end({ work, version, next, as }: End): boolean {
    const record = this.recordOf(work)
    if (record === undefined) return false
    if (record.version === next) return true
    if (record.version !== version && this.#without !== 'apply to the record that was decided on') return false
    record.version = next
    if (record.state === 'open') {
      record.state = 'gone'
      record.work.state = as
      this.window.refund(record.personalStart, record.work.cost)
    }
    return true
  }

  endedBy(now: number): HoldRecord[] {
    const isOver = ({ state, endsAt }: HoldRecord) =>
      (state === 'open' || this.#without === 'hand over once') && now >= endsAt
    return this.records.filter(isOver)
  }

  isOpen(now: number): boolean {
    return this.window.isOpen(now)
  }

  /** When waiting for the own window would end; nothing where it has room. */
  refusingEnd(now: number, cost: number): number | undefined {
    const isFull = this.isOpen(now) && this.window.used + cost > this.#limit
    return isFull ? endOf(KIND, this.window.start) : undefined
  }
}
