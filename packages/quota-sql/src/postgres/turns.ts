import { Breaker, notDone } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import { Queue } from '../step/queue.ts'
import { storeError } from '../step/store-error.ts'
import { Adds } from './adds.ts'
import type { AttemptContext } from './attempt.ts'
import { Turn, type TurnContext } from './turn.ts'

/** Statements that add, under way at once. */
const ADDS_AT_ONCE = 2

/** What a process asks of a server, but only a little while that does not answer. */
export class Turns {
  readonly #deadlineMs: number
  readonly #context: TurnContext
  readonly #queue: Queue
  readonly #addQueue: Queue
  readonly #adds: Adds
  readonly #breaker = new Breaker(() => performance.now())
  #turn: Turn | undefined
  #lastError: unknown
  /** Commits that nobody waits for any more, and that may still be told of. */
  readonly #followed = new Set<Promise<void>>()

  constructor(context: AttemptContext) {
    this.#deadlineMs = context.deadlineMs
    this.#context = {
      ...context,
      answered: () => {
        this.#breaker.succeeded()
        this.#adds.isAnswering = true
      },
      unanswered: (error) => {
        this.#lastError = error
        this.#adds.isAnswering = false
      },
      follow: (end) => this.#follow(end),
    }
    this.#adds = new Adds({ ...this.#context, lockFor: (operations) => this.#queue.askAgain(operations) })
    const parts = {
      deadlineMs: context.deadlineMs,
      over: (operations: readonly Operation[]) => this.#over(operations),
      full: (message: string) => notDone(storeError(message)),
    }
    this.#queue = new Queue({ ...parts, transact: (operations) => this.#take(operations) })
    this.#addQueue = new Queue({
      ...parts,
      atOnce: ADDS_AT_ONCE,
      transact: (operations) => this.#adds.make(operations),
    })
  }

  /** Answers or fails an operation, within the deadline. */
  ask(operation: Operation): void {
    const queue = this.#adds.takes(operation) ? this.#addQueue : this.#queue
    queue.ask(operation)
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#addQueue.idle()
    await this.#queue.idle()
    await Promise.all(this.#followed)
  }

  async #take(operations: readonly Operation[]): Promise<void> {
    if (!this.#breaker.admits()) {
      const error = notDone(storeError('PostgreSQL gave no answers for a while and is not asked now', this.#lastError))
      for (const operation of operations) operation.fail(error)
      return
    }
    this.#turn = new Turn(this.#context, operations)
    await this.#turn.run()
    this.#turn = undefined
  }

  #over(operations: readonly Operation[]): void {
    this.#breaker.failed()
    this.#adds.isAnswering = false
    for (const operation of operations) {
      const error = storeError(`PostgreSQL gave no answer within ${this.#deadlineMs} ms`, this.#lastError)
      const isInDoubt = this.#turn?.mayHaveDone(operation) === true || this.#adds.mayHaveDone(operation)
      operation.fail(isInDoubt ? error : notDone(error))
    }
    this.#turn?.look()
    this.#adds.look()
  }

  #follow(end: Promise<void>): void {
    const followed = end.finally(() => this.#followed.delete(followed))
    this.#followed.add(followed)
  }
}
