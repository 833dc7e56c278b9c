import type { TakeReply } from '@scoregw/quota/store'
import type { Footprint } from './asked.ts'
import type { Charge } from './schema-rows.ts'
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
  /** There where it may be done by adding to rows. */
  readonly charge?: Charge | undefined
  /** Whether an answer charges something. */
  isCharge?(answer: T): boolean
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
  /** When it was asked for, by `performance.now()`. */
  readonly askedAt: number
  /** There where it may be done by adding to rows. */
  readonly charge: Charge | undefined
  /** Whether what was decided charges something. */
  readonly isCharging: boolean
  /** Decided elsewhere, as a take. */
  decided(reply: TakeReply): void
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
  readonly askedAt: number = performance.now()

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

  get charge(): Charge | undefined {
    return this.#work.charge
  }

  get isCharging(): boolean {
    const answer = this.#answer
    return answer !== undefined && 'value' in answer && this.#work.isCharge?.(answer.value) === true
  }

  decided(reply: TakeReply): void {
    this.#answer = { value: reply as T }
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
