import { Breaker, InFlight, notDone } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import { Queue } from '../step/queue.ts'
import { storeError } from '../step/store-error.ts'
import { addTransactions } from './adds.ts'
import type { BatchTransaction, TransactionDeps } from './batch-transaction.ts'
import { noAnswer } from './errors.ts'
import type { FirstConnection } from './first-connection.ts'
import { LockingTransaction } from './locking.ts'
import { SharedConnection } from './session.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)
const { setImmediate } = globalThis

/** How many adding statements may be in flight at the same time. */
const ADDS_AT_ONCE = 2
const REFUSED = 'PostgreSQL gave no answers for a while and gets no calls now'

/** The takes of one event-loop tick. */
interface Tick {
  /** The number of the first one. */
  readonly first: number
  /** Where all of them need locks: see `Work.takesFrom`. */
  readonly locked: Set<string>
}

/** The surroundings of {@link Transactions}. */
export interface TransactionsDeps
  extends Omit<TransactionDeps, 'fences' | 'again' | 'answered' | 'unanswered' | 'follow'> {
  readonly first: FirstConnection
}

/** A process's calls to a server. While the server does not answer, a breaker limits the calls. */
export class Transactions {
  readonly #first: FirstConnection
  readonly #deadlineMs: number
  readonly #deps: TransactionDeps
  readonly #queue: Queue
  readonly #addQueue: Queue
  /** The takes of this event-loop tick. */
  #tick: Tick | undefined
  readonly #breaker = new Breaker(steadyMs)
  readonly #transactions = new Set<BatchTransaction>()
  /** Whether the last call was answered. */
  #isAnswering = true
  /** The last error of a connection since the last answer. */
  #lastError: unknown
  /** Why the last calls were not answered. */
  #unanswered: unknown
  /** Calls that wait for the first connection. */
  readonly #waiting = new InFlight()
  /** Commits whose callers have left, and which may still be answered. */
  readonly #followed = new Set<Promise<void>>()

  constructor(deps: TransactionsDeps) {
    this.#first = deps.first
    this.#deadlineMs = deps.deadlineMs
    this.#deps = {
      ...deps,
      fences: [],
      again: (operations) => this.#queue.requeue(operations),
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
    const [connection, texts] = [new SharedConnection(deps), new Map<string, string>()]
    this.#queue = this.#queueOf(1, (operations) => [new LockingTransaction(this.#deps, operations)])
    this.#addQueue = this.#queueOf(ADDS_AT_ONCE, (operations) =>
      addTransactions(this.#deps, operations, connection, texts),
    )
  }

  /** Answers or fails an operation. Its deadline starts after the first connection. */
  add(operation: Operation): void {
    const { opening } = this.#first
    if (opening === undefined) this.#addNow(operation)
    else if (this.#waiting.refusal === undefined) void this.#addLater(operation, opening)
    else operation.fail(notDone(storeError(this.#waiting.refusal)))
  }

  async #addLater(operation: Operation, opening: Promise<void>): Promise<void> {
    this.#waiting.add()
    await opening
    this.#waiting.done()
    const { otherVersion } = this.#first
    if (otherVersion !== undefined) return operation.fail(notDone(otherVersion))
    this.#lastError ??= this.#first.error
    operation.queuedAt = steadyMs()
    this.#addNow(operation)
  }

  #addNow(operation: Operation): void {
    const { charge, takesFrom } = operation
    const isAdd = charge !== undefined && this.#isAnswering && this.#deps.layouts.isKept(charge.layout)
    if (takesFrom === undefined) this.#queue.add(operation)
    else if (isAdd && !this.#tickOf(operation).locked.has(takesFrom)) this.#addQueue.add(operation)
    else this.#lock(operation, takesFrom)
  }

  /** Takes of one tick that may share rows are decided in order. So if one of them needs locks, earlier ones lock as well. */
  #lock(operation: Operation, from: string): void {
    const { first, locked } = this.#tickOf(operation)
    locked.add(from)
    const isEarlier = ({ takesFrom, number }: Operation): boolean => takesFrom === from && number >= first
    for (const earlier of this.#addQueue.withdraw(isEarlier)) this.#queue.add(earlier)
    this.#queue.add(operation)
  }

  #tickOf({ number }: Operation): Tick {
    if (this.#tick === undefined) {
      this.#tick = { first: number, locked: new Set() }
      setImmediate(() => {
        this.#tick = undefined
      })
    }
    return this.#tick
  }

  /** Resolves when nothing is in flight. */
  async idle(): Promise<void> {
    await this.#first.close()
    await this.#addQueue.idle()
    await this.#queue.idle()
    await Promise.all(this.#followed)
  }

  #queueOf(atOnce: number, transactionsOf: (operations: readonly Operation[]) => readonly BatchTransaction[]): Queue {
    return new Queue({
      deadlineMs: this.#deadlineMs,
      atOnce,
      over: (operations) => this.#over(operations),
      full: (message) => notDone(storeError(message)),
      transact: async (operations) => {
        const waiting = operations.filter(({ isOver }) => !isOver)
        if (waiting.length === 0) return
        if (this.#breaker.admits())
          await Promise.all(transactionsOf(waiting).map((transaction) => this.#run(transaction)))
        else for (const operation of waiting) operation.fail(notDone(storeError(REFUSED, this.#unanswered)))
      },
    })
  }

  async #run(transaction: BatchTransaction): Promise<void> {
    this.#transactions.add(transaction)
    await transaction.run()
    this.#transactions.delete(transaction)
  }

  #over(operations: readonly Operation[]): void {
    this.#breaker.failed()
    this.#isAnswering = false
    this.#unanswered = noAnswer(this.#deadlineMs, this.#lastError)
    for (const operation of operations) {
      const error = noAnswer(this.#deadlineMs, this.#lastError)
      const isInDoubt = [...this.#transactions].some((transaction) => transaction.mayHaveDone(operation))
      operation.fail(isInDoubt ? error : notDone(error))
    }
    for (const transaction of this.#transactions) transaction.leaveIfOver()
  }
}
