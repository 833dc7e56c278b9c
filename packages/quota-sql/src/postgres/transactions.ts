import { Breaker, InFlight, notDone } from '@scoregw/quota/store'
import type { TableNames } from '../schema/tables.ts'
import type { Operation } from '../step/operation.ts'
import { Queue } from '../step/queue.ts'
import type { RowRef } from '../step/requested.ts'
import { storeError } from '../step/store-error.ts'
import type { BatchTransaction, TransactionDeps } from './batch-transaction.ts'
import { noAnswer } from './errors.ts'
import type { FirstConnection } from './first-connection.ts'
import { LockingTransaction } from './locking.ts'
import { SharedConnection } from './session.ts'
import { type PlannedTake, TakesTransaction } from './take.ts'
import { TakePlans } from './take-plan.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)
const { setImmediate } = globalThis

/** How many groups of takes may be in flight at the same time. */
const TAKES_AT_ONCE = 2
/** Up to so many takes are a statement each. More are one step. */
const FEW = 4
/** A statement waits for a locked row at most the deadline divided by this, and at most the maximum below. */
const LOCK_SHARE = 4
const MOST_LOCK_MS = 500
const REFUSED = 'PostgreSQL gave no answers for a while and gets no calls now'

/** The takes of one event-loop tick. */
interface Tick {
  /** The number of the first one. */
  readonly first: number
  /** Where all of them need locks: see `Work.takesFrom`. */
  readonly locked: Set<string>
}

/** The surroundings of {@link Transactions}. */
export interface TransactionsDeps extends Omit<TransactionDeps, 'again' | 'answered' | 'unanswered' | 'follow'> {
  readonly first: FirstConnection
  readonly tables: TableNames
}

/** A process's calls to a server. While the server does not answer, a breaker limits the calls. */
export class Transactions {
  readonly #first: FirstConnection
  readonly #deadlineMs: number
  readonly #deps: TransactionDeps
  readonly #queue: Queue
  readonly #takeQueue: Queue
  readonly #plans: TakePlans
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
    const lockMs = Math.min(MOST_LOCK_MS, Math.ceil(deps.deadlineMs / LOCK_SHARE))
    this.#plans = new TakePlans({ tables: deps.tables, lockMs, now: deps.now })
    const connection = new SharedConnection(deps)
    this.#queue = this.#queueOf(1, (operations) => this.#locking(operations))
    this.#takeQueue = this.#queueOf(TAKES_AT_ONCE, (operations) => this.#takes(operations, connection))
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
    const { takesFrom } = operation
    if (takesFrom === undefined) this.#queue.add(operation)
    else if (this.#isPlanned(operation) && !this.#tickOf(operation).locked.has(takesFrom))
      this.#takeQueue.add(operation)
    else this.#lock(operation, takesFrom)
  }

  /** Whether one statement can make a take. The layouts of its rows have to be stored before. */
  #isPlanned({ charge }: Operation): boolean {
    const isKept = ({ layout }: RowRef): boolean => layout !== undefined && this.#deps.layouts.isKept(layout)
    return this.#isAnswering && charge?.refs.every(isKept) === true && this.#plans.of(charge) !== undefined
  }

  #locking(operations: readonly Operation[]): LockingTransaction[] {
    const alone = operations.filter(({ isAlone }) => isAlone)
    const others = operations.filter(({ isAlone }) => !isAlone)
    const groups = [...alone.map((operation) => [operation]), ...(others.length > 0 ? [others] : [])]
    return groups.map((group) => new LockingTransaction(this.#deps, group))
  }

  #takes(operations: readonly Operation[], connection: SharedConnection): BatchTransaction[] {
    if (operations.length > FEW) return [new LockingTransaction(this.#deps, operations)]
    const takes = operations.flatMap((operation): PlannedTake[] => {
      const { charge } = operation
      const plan = charge && this.#plans.of(charge)
      return charge === undefined || plan === undefined ? [] : [{ operation, charge, plan }]
    })
    return [new TakesTransaction(this.#deps, takes, connection)]
  }

  /** Takes of one tick that may share rows are decided in order. So if one of them needs locks, earlier ones lock as well. */
  #lock(operation: Operation, from: string): void {
    const { first, locked } = this.#tickOf(operation)
    locked.add(from)
    const isEarlier = ({ takesFrom, number }: Operation): boolean => takesFrom === from && number >= first
    for (const earlier of this.#takeQueue.withdraw(isEarlier)) this.#queue.add(earlier)
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
    await this.#takeQueue.idle()
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
      const isInDoubt =
        operation.isInDoubt || [...this.#transactions].some((transaction) => transaction.mayHaveDone(operation))
      operation.fail(isInDoubt ? error : notDone(error))
    }
    for (const transaction of this.#transactions) transaction.leaveIfOver()
  }
}
