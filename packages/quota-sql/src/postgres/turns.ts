import { Breaker, notDone } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import { Queue } from '../step/queue.ts'
import { storeError } from '../step/store-error.ts'
import type { AttemptContext } from './attempt.ts'
import { Turn, type TurnContext } from './turn.ts'

/** What a process asks of a server, but only a little while that does not answer. */
export class Turns {
  readonly #deadlineMs: number
  readonly #context: TurnContext
  readonly #queue: Queue
  readonly #breaker = new Breaker(() => performance.now())
  #turn: Turn | undefined
  #lastError: unknown
  /** Commits that nobody waits for any more, and that may still be told of. */
  readonly #followed = new Set<Promise<void>>()

  constructor(context: AttemptContext) {
    this.#deadlineMs = context.deadlineMs
    this.#context = {
      ...context,
      answered: () => this.#breaker.succeeded(),
      unanswered: (error) => {
        this.#lastError = error
      },
      follow: (end) => this.#follow(end),
    }
    this.#queue = new Queue({
      deadlineMs: context.deadlineMs,
      turn: (operations) => this.#take(operations),
      over: (operations) => this.#over(operations),
      full: (message) => notDone(storeError(message)),
    })
  }

  /** Answers or fails an operation, within the deadline. */
  ask(operation: Operation): void {
    this.#queue.ask(operation)
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
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
    for (const operation of operations) {
      const error = storeError(`PostgreSQL gave no answer within ${this.#deadlineMs} ms`, this.#lastError)
      operation.fail(this.#turn?.mayHaveDone(operation) === true ? error : notDone(error))
    }
    this.#turn?.look()
  }

  #follow(end: Promise<void>): void {
    const followed = end.finally(() => this.#followed.delete(followed))
    this.#followed.add(followed)
  }
}
