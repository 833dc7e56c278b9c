import type { QuotaError } from '@scoregw/quota'
import { Deadline, InFlight, type TakeReply } from '@scoregw/quota/store'
import type { Charge, Footprint } from './requested.ts'
import type { Step } from './step.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setImmediate } = globalThis
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

// When operations are carried out -------------------------------------------------------------------------------------

/** The most operations in one transaction. */
const MOST = 256

/** The operations of one event-loop tick, which share a deadline. */
interface Group {
  readonly operations: Operation[]
  readonly deadline: Deadline
  left: number
}

interface Waiting {
  readonly operation: Operation
  readonly group: Group
}

/** The dependencies of a {@link Queue}. */
export interface QueueDeps {
  readonly deadlineMs: number
  /** How many transactions may be in flight at the same time. @default 1 */
  readonly atOnce?: number
  /** Answers, fails or passes on operations. Never rejects. */
  readonly transact: (operations: readonly Operation[]) => Promise<void>
  /** Fails operations whose deadline has passed. */
  readonly over: (operations: readonly Operation[]) => void
  /** The error for operations that a full queue rejects. */
  readonly full: (message: string) => QuotaError
}

/**
 * A process's operations, one transaction at a time. Operations that arrive in the meantime form the next one. So
 * shared rows change hands between processes, but never between the calls of one process.
 */
export class Queue {
  readonly #deps: QueueDeps
  /** In the order of their numbers. */
  #waiting: Waiting[] = []
  readonly #running = new Set<Promise<void>>()
  #group: Group | undefined
  #isDue = false
  readonly #inFlight = new InFlight()

  constructor(deps: QueueDeps) {
    this.#deps = deps
  }

  /** Answers or fails an operation, within the deadline. */
  add(operation: Operation): void {
    const { refusal } = this.#inFlight
    if (refusal === undefined) this.#push(operation, this.#group ?? this.#newGroup())
    else operation.fail(this.#deps.full(refusal))
  }

  /** Removes operations that no transaction has taken yet, and returns them in order. */
  withdraw(isWanted: (operation: Operation) => boolean): readonly Operation[] {
    const withdrawn = this.#waiting.filter(({ operation }) => isWanted(operation))
    if (withdrawn.length > 0) this.#waiting = this.#waiting.filter(({ operation }) => !isWanted(operation))
    this.#leave(withdrawn)
    return withdrawn.map(({ operation }) => operation)
  }

  /** Repeats operations, within the deadline since they were requested. They go before newer ones. */
  requeue(operations: readonly Operation[]): void {
    const waiting = operations.filter(({ isOver }) => !isOver)
    if (waiting.length === 0) return
    const passedMs = steadyMs() - Math.min(...waiting.map(({ queuedAt }) => queuedAt))
    const group = this.#groupOf(Math.max(1, Math.ceil(this.#deps.deadlineMs - passedMs)))
    for (const operation of waiting) this.#push(operation, group)
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    return this.#inFlight.idle()
  }

  #push(operation: Operation, group: Group): void {
    this.#inFlight.add()
    group.operations.push(operation)
    group.left++
    const newer = this.#waiting.findLastIndex((each) => each.operation.number < operation.number) + 1
    this.#waiting.splice(newer, 0, { operation, group })
    this.#schedule()
  }

  /** Operations of one tick go together, and so do the next operations of callers that were just answered. */
  #schedule(): void {
    if (this.#isDue || this.#waiting.length === 0 || this.#running.size >= (this.#deps.atOnce ?? 1)) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      const running = this.#run().finally(() => {
        this.#running.delete(running)
        this.#schedule()
      })
      this.#running.add(running)
      this.#schedule()
    })
  }

  async #run(): Promise<void> {
    const taken = this.#waiting.splice(0, MOST)
    await this.#deps.transact(taken.map(({ operation }) => operation))
    this.#leave(taken)
  }

  #leave(operations: readonly Waiting[]): void {
    for (const { group } of operations) {
      group.left--
      if (group.left > 0) continue
      group.deadline.met()
      // Everything may be answered in the tick in which it was requested. Don't add more to a group past its deadline.
      this.#close(group)
    }
    this.#inFlight.done(operations.length)
  }

  #newGroup(): Group {
    const group = this.#groupOf(this.#deps.deadlineMs)
    this.#group = group
    setImmediate(() => this.#close(group))
    return group
  }

  #groupOf(deadlineMs: number): Group {
    const operations: Operation[] = []
    const deadline = new Deadline(deadlineMs, () => {
      const unanswered = operations.filter(({ isOver }) => !isOver)
      if (unanswered.length > 0) this.#deps.over(unanswered)
    })
    return { operations, deadline, left: 0 }
  }

  #close(group: Group): void {
    if (this.#group === group) this.#group = undefined
  }
}
