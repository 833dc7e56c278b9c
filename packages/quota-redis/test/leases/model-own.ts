import type { Rule, Work } from './model-parts.ts'
import { endOf, Window, type WindowKind } from './model-windows.ts'

const KIND: WindowKind = { ticks: 7 }
/** One user at each process: one who soon has nothing left, one who always has. */
export const PERSONAL_LIMITS: readonly number[] = [4, 30]

/** The own rows of one user: one slot, in which each of these is one step. */
export class ModelOwn {
  readonly window: Window = new Window(KIND)
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
  }

  refund(work: Work): void {
    this.window.refund(work.personalStart, work.cost)
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
