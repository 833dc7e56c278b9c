import { Breaker, InFlight, notDone } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import { Queue } from '../step/queue.ts'
import { storeError } from '../step/store-error.ts'
import { addTurns } from './adds.ts'
import { noAnswer } from './errors.ts'
import type { FirstConnection } from './first-connection.ts'
import { LockingTurn } from './locking.ts'
import { Line } from './session.ts'
import type { Turn, TurnParts } from './turn.ts'

/** Statements that add, in flight at once. */
const ADDS_AT_ONCE = 2
const REFUSED = 'PostgreSQL gave no answers for a while and gets no calls now'

/** The surroundings of {@link Turns}. */
export interface TurnsParts extends Omit<TurnParts, 'fences' | 'again' | 'answered' | 'unanswered' | 'follow'> {
  readonly first: FirstConnection
}

/** The calls of a process to a server. One that gives no answers gets few of them. */
export class Turns {
  readonly #first: FirstConnection
  readonly #deadlineMs: number
  readonly #parts: TurnParts
  readonly #queue: Queue
  readonly #addQueue: Queue
  readonly #breaker = new Breaker(() => performance.now())
  readonly #turns = new Set<Turn>()
  /** Whether the last call was answered. */
  #isAnswering = true
  /** Of a connection, since the last answer. */
  #lastError: unknown
  /** Why the last calls were not answered. */
  #unanswered: unknown
  /** Calls that wait for the first connection. */
  readonly #waiting = new InFlight()
  /** Commits that no caller waits for any more, and that may still be answered. */
  readonly #followed = new Set<Promise<void>>()

  constructor(parts: TurnsParts) {
    this.#first = parts.first
    this.#deadlineMs = parts.deadlineMs
    this.#parts = {
      ...parts,
      fences: [],
      again: (operations) => this.#queue.askAgain(operations),
      answered: () => {
        this.#breaker.succeeded()
        this.#isAnswering = true
        this.#lastError = undefined
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

  /** Answers or fails an operation, within the deadline since the first connection. */
  ask(operation: Operation): void {
    const { opening } = this.#first
    if (opening === undefined) this.#askNow(operation)
    else if (this.#waiting.refusal === undefined) void this.#askLater(operation, opening)
    else operation.fail(notDone(storeError(this.#waiting.refusal)))
  }

  async #askLater(operation: Operation, opening: Promise<void>): Promise<void> {
    this.#waiting.add()
    await opening
    this.#waiting.done()
    this.#lastError ??= this.#first.error
    operation.askedAt = performance.now()
    this.#askNow(operation)
  }

  #askNow(operation: Operation): void {
    const { charge } = operation
    const isAdd = charge !== undefined && this.#isAnswering && this.#parts.layouts.isKept(charge.rows.layout)
    if (isAdd) this.#addQueue.ask(operation)
    else this.#queue.ask(operation)
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    await this.#first.close()
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
        else for (const operation of waiting) operation.fail(notDone(storeError(REFUSED, this.#unanswered)))
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
    this.#unanswered = noAnswer(this.#deadlineMs, this.#lastError)
    for (const operation of operations) {
      const error = noAnswer(this.#deadlineMs, this.#lastError)
      const isInDoubt = [...this.#turns].some((turn) => turn.mayHaveDone(operation))
      operation.fail(isInDoubt ? error : notDone(error))
    }
    for (const turn of this.#turns) turn.look()
  }
}
