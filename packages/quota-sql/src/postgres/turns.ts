import { Breaker, notDone } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import { Queue } from '../step/queue.ts'
import { storeError } from '../step/store-error.ts'
import { addTurns } from './adds.ts'
import { LockingTurn } from './locking.ts'
import { Line } from './session.ts'
import type { Turn, TurnParts } from './turn.ts'

/** Statements that add, in flight at once. */
const ADDS_AT_ONCE = 2
const REFUSED = 'PostgreSQL gave no answers for a while and gets no calls now'

/** The calls of a process to a server. One that gives no answers gets few of them. */
export class Turns {
  readonly #deadlineMs: number
  readonly #parts: TurnParts
  readonly #queue: Queue
  readonly #addQueue: Queue
  readonly #breaker = new Breaker(() => performance.now())
  readonly #turns = new Set<Turn>()
  /** Whether the last call was answered. */
  #isAnswering = true
  #lastError: unknown
  /** Commits that no caller waits for any more, and that may still be answered. */
  readonly #followed = new Set<Promise<void>>()

  constructor(parts: Omit<TurnParts, 'fences' | 'again' | 'answered' | 'unanswered' | 'follow'>) {
    this.#deadlineMs = parts.deadlineMs
    this.#parts = {
      ...parts,
      fences: [],
      again: (operations) => this.#queue.askAgain(operations),
      answered: () => {
        this.#breaker.succeeded()
        this.#isAnswering = true
      },
      unanswered: (error) => {
        this.#lastError = error
        this.#isAnswering = false
      },
      follow: (end) => {
        const followed = end.finally(() => this.#followed.delete(followed))
        this.#followed.add(followed)
      },
    }
    const [line, texts] = [new Line(parts), new Map<string, string>()]
    this.#queue = this.#queueOf(1, (operations) => [new LockingTurn(this.#parts, operations)])
    this.#addQueue = this.#queueOf(ADDS_AT_ONCE, (operations) => addTurns(this.#parts, operations, line, texts))
  }

  /** Answers or fails an operation, within the deadline. */
  ask(operation: Operation): void {
    const { charge } = operation
    const isAdd = charge !== undefined && this.#isAnswering && this.#parts.layouts.isKept(charge.rows.layout)
    if (isAdd) this.#addQueue.ask(operation)
    else this.#queue.ask(operation)
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    await this.#addQueue.idle()
    await this.#queue.idle()
    await Promise.all(this.#followed)
  }

  #queueOf(atOnce: number, turnsOf: (operations: readonly Operation[]) => readonly Turn[]): Queue {
    return new Queue({
      deadlineMs: this.#deadlineMs,
      atOnce,
      over: (operations) => this.#over(operations),
      full: (message) => notDone(storeError(message)),
      transact: async (operations) => {
        const waiting = operations.filter(({ isOver }) => !isOver)
        if (waiting.length === 0) return
        if (this.#breaker.admits()) await Promise.all(turnsOf(waiting).map((turn) => this.#run(turn)))
        else for (const operation of waiting) operation.fail(notDone(storeError(REFUSED, this.#lastError)))
      },
    })
  }

  async #run(turn: Turn): Promise<void> {
    this.#turns.add(turn)
    await turn.run()
    this.#turns.delete(turn)
  }

  #over(operations: readonly Operation[]): void {
    this.#breaker.failed()
    this.#isAnswering = false
    for (const operation of operations) {
      const error = storeError(`PostgreSQL gave no answer within ${this.#deadlineMs} ms`, this.#lastError)
      const isInDoubt = [...this.#turns].some((turn) => turn.mayHaveDone(operation))
      operation.fail(isInDoubt ? error : notDone(error))
    }
    for (const turn of this.#turns) turn.look()
  }
}
