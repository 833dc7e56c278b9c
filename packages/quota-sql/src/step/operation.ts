import type { TakeReply } from '@scoregw/quota/store'
import type { Footprint } from './requested.ts'
import type { Charge } from './schema-rows.ts'
import type { Step } from './step.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)

/** The work of one call. */
export interface Work<T> {
  readonly footprint: Footprint
  /** Whether it only reads. */
  readonly isRead?: boolean
  /** Decides. Throws before it changes anything. */
  decide(step: Step): T
  /** Equal for takes that may share rows. Takes of one tick are decided in order where it is equal. */
  readonly takesFrom?: string | undefined
  /** Set if one statement can do the work. */
  readonly charge?: Charge | undefined
  /** Whether it may be repeated if its outcome is unknown: it only reads, or a record shows the outcome. */
  readonly isRepeatable?: boolean
  /** Called if the work was done after its call had failed. */
  undo?(answer: T): void
}

/** One call, decided in a transaction, and answered after the commit. */
export interface Operation extends Pick<Pending<unknown>, keyof Pending<unknown>> {}

export function operationOf<T>(
  work: Work<T>,
  resolve: (answer: T) => void,
  reject: (error: unknown) => void,
): Operation {
  return new Pending(work, resolve, reject)
}

/**
 * Whether an operation only reads rows, so that it needs no lock. A list of holds doesn't qualify, since it settles
 * expired ones.
 */
export function readsRows({ isRead, footprint }: Pick<Operation, 'isRead' | 'footprint'>): boolean {
  return isRead && footprint.shownOwners === undefined
}

class Pending<T> {
  readonly footprint: Footprint
  readonly isRead: boolean
  readonly takesFrom: string | undefined
  readonly charge: Charge | undefined
  readonly isRepeatable: boolean
  /** Whether an answer was lost, so that it may have been done. */
  isInDoubt = false
  /** Whether it must not share a transaction, because one that it shared was rejected. */
  isAlone = false
  /** Its position among all operations of the process. */
  readonly number: number = operations++
  /** When its deadline started, by `steadyMs()`. */
  queuedAt: number = steadyMs()
  readonly #work: Work<T>
  readonly #resolve: (answer: T) => void
  readonly #reject: (error: unknown) => void
  #answer: { readonly value: T } | { readonly error: unknown } | undefined
  #isOver = false

  constructor(work: Work<T>, resolve: (answer: T) => void, reject: (error: unknown) => void) {
    this.footprint = work.footprint
    this.isRead = work.isRead === true
    this.takesFrom = work.takesFrom
    this.charge = work.charge
    this.isRepeatable = this.isRead || work.isRepeatable === true
    this.#work = work
    this.#resolve = resolve
    this.#reject = reject
  }

  /** Whether its call was answered or failed. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Stores a decision that a statement has made. */
  decided(reply: TakeReply): void {
    this.#answer = { value: reply as T }
  }

  /** Decides. It may be called again, in another transaction. */
  decide(step: Step): void {
    this.#answer = undefined
    if (this.#isOver) return
    try {
      this.#answer = { value: this.#work.decide(step) }
    } catch (error) {
      this.#answer = { error }
    }
  }

  /** Answers the call, after the commit. */
  done(): void {
    const answer = this.#answer
    if (answer === undefined) return
    if (this.#isOver) {
      if ('value' in answer) this.#work.undo?.(answer.value)
      return
    }
    this.#isOver = true
    if ('value' in answer) this.#resolve(answer.value)
    else this.#reject(answer.error)
  }

  fail(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#reject(error)
  }
}

let operations = 0
