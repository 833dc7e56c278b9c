import type { QuotaError } from '@scoregw/quota'
import { Deadline, InFlight } from '@scoregw/quota/store'
import type { Operation } from './operation.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setImmediate } = globalThis
const steadyMs = performance.now.bind(performance)

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
