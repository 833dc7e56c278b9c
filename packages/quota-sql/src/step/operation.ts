import type { Footprint } from './asked.ts'
import type { Step } from './step.ts'

/** Who waits for an operation's answer. */
export interface Waiter<T> {
  resolve(answer: T): void
  reject(error: unknown): void
}

/** What an operation does. */
export interface Work<T> {
  readonly footprint: Footprint
  /** Whether it may be done again when nobody knows whether it was done: it is once under an id, or changes nothing more. */
  readonly repeatable: boolean
  /** Whether it only looks. */
  readonly isLook: boolean
  /** Decides. Throws before it changes anything. */
  decide(step: Step): T
  /**
   * The same answer at another instant, between which and the first no window opens, ends or closes. Only answers that
   * say nothing else of the instant have it.
   */
  at?(answer: T, now: number): T
  /** Called where it was done and its caller was told that it was not answered. */
  undo?(answer: T): void
}

/** One call on its way: decided in a transaction, answered when that is committed. */
export interface Operation {
  readonly footprint: Footprint
  readonly repeatable: boolean
  readonly isLook: boolean
  /** Whether its caller was told something. */
  readonly isOver: boolean
  /** May be called again: in a transaction that is made anew. */
  decide(step: Step): void
  /** Whether what was decided may turn out to be of another instant: see {@link moveTo}. */
  readonly isMovable: boolean
  /** What was decided is of this instant, between which and that of the step nothing began or ended. */
  moveTo(now: number): void
  /** What was decided is so from now on. */
  done(): void
  fail(error: unknown): void
}

/** An operation and who waits for it. */
export function operationOf<T>(work: Work<T>, waiter: Waiter<T>): Operation {
  return new Pending(work, waiter)
}

class Pending<T> implements Operation {
  readonly #work: Work<T>
  readonly #waiter: Waiter<T>
  #answer: { readonly value: T } | { readonly error: unknown } | undefined
  #isOver = false

  constructor(work: Work<T>, waiter: Waiter<T>) {
    this.#work = work
    this.#waiter = waiter
  }

  get footprint(): Footprint {
    return this.#work.footprint
  }

  get repeatable(): boolean {
    return this.#work.repeatable
  }

  get isLook(): boolean {
    return this.#work.isLook
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get isMovable(): boolean {
    return this.#work.at !== undefined
  }

  moveTo(now: number): void {
    const answer = this.#answer
    if (answer === undefined || !('value' in answer) || this.#work.at === undefined) return
    this.#answer = { value: this.#work.at(answer.value, now) }
  }

  decide(step: Step): void {
    this.#answer = undefined
    if (this.#isOver) return
    try {
      this.#answer = { value: this.#work.decide(step) }
    } catch (error) {
      this.#answer = { error }
    }
  }

  done(): void {
    const answer = this.#answer
    if (answer === undefined) return
    if (this.#isOver) {
      if ('value' in answer) this.#work.undo?.(answer.value)
      return
    }
    this.#isOver = true
    if ('value' in answer) this.#waiter.resolve(answer.value)
    else this.#waiter.reject(answer.error)
  }

  fail(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#waiter.reject(error)
  }
}
