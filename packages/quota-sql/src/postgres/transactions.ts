import timers from 'node:timers/promises'
import { Breaker, type EndedHold, InFlight, notDone } from '@scoregw/quota/store'
import type { TableNames } from '../schema/tables.ts'
import { type Operation, Queue } from '../step/operation.ts'
import type { RowRef } from '../step/requested.ts'
import { storeError } from '../step/store-error.ts'
import {
  isAnswer,
  isBadValue,
  isBetween,
  isInDoubt,
  isReadOnly,
  lostAnswer,
  noAnswer,
  refusal,
  verdictOf,
} from './errors.ts'
import { type FirstConnection, type Session, type SessionDeps, SharedConnection } from './session.ts'
import { TakePlans, takes } from './take.ts'
import { answerUnlocked, type Commit, type DecisionDeps, locking } from './transaction.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)
const { setTimeout, clearTimeout, setImmediate } = globalThis
const { setTimeout: pause } = timers

/** How many groups of takes may be in flight at the same time. */
const TAKES_AT_ONCE = 2
/** Up to so many takes are a statement each. More are one step. */
const FEW = 4
/** A statement waits for a locked row at most the deadline divided by this, and at most the maximum below. */
const LOCK_SHARE = 4
const MOST_LOCK_MS = 500
/** The pause before an unavailable server is tried again, in milliseconds. */
const AGAIN_AFTER_MS = 20
/** How long to wait for an answer that no caller needs any more, in milliseconds. */
const LISTEN_MS = 5_000
const REFUSED = 'PostgreSQL gave no answers for a while and gets no calls now'

/** The takes of one event-loop tick. */
interface Tick {
  /** The number of the first one. */
  readonly first: number
  /** Where all of them need locks: see `Work.takesFrom`. */
  readonly locked: Set<string>
}

/** The surroundings of {@link Transactions}. */
export interface TransactionsDeps extends SessionDeps, DecisionDeps {
  readonly first: FirstConnection
  readonly tables: TableNames
  /** Receives the holds that ended in what was committed. */
  readonly ended: (holds: readonly EndedHold[]) => void
}

/** A process's calls to a server. While the server does not answer, a breaker limits the calls. */
export class Transactions {
  readonly #first: FirstConnection
  readonly #deadlineMs: number
  readonly #deps: BatchDeps & TransactionsDeps
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

  #locking(operations: readonly Operation[]): BatchTransaction[] {
    const alone = operations.filter(({ isAlone }) => isAlone)
    const others = operations.filter(({ isAlone }) => !isAlone)
    const groups = [...alone.map((operation) => [operation]), ...(others.length > 0 ? [others] : [])]
    return groups.map((group) => this.#locked(group))
  }

  #locked(operations: readonly Operation[]): BatchTransaction {
    const connection = new SharedConnection(this.#deps)
    return new BatchTransaction(this.#deps, { operations, connection, commit: locking(operations, this.#deps) })
  }

  #takes(operations: readonly Operation[], connection: SharedConnection): BatchTransaction[] {
    if (operations.length > FEW) return [this.#locked(operations)]
    const commit = takes(operations, this.#plans)
    return [new BatchTransaction(this.#deps, { operations, connection, commit })]
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

// One transaction -----------------------------------------------------------------------------------------------------

/** The surroundings of a {@link BatchTransaction}. */
interface BatchDeps extends DecisionDeps {
  /** Runs operations in another transaction. */
  readonly again: (operations: readonly Operation[]) => void
  /** Called when the server answered. */
  readonly answered: () => void
  /** Called when the server gave no answer. */
  readonly unanswered: (error: unknown) => void
  /** Called with work that no caller waits for. */
  readonly follow: (end: Promise<void>) => void
}

interface Batch {
  readonly operations: readonly Operation[]
  readonly connection: SharedConnection
  readonly commit: Commit
}

/**
 * A transaction for some operations. What was certainly not committed goes into another one. If the answer to a commit
 * is lost, its outcome is unknown: then only reads, and takes with an id, are repeated.
 */
class BatchTransaction {
  readonly operations: readonly Operation[]
  readonly #deps: BatchDeps
  readonly #batch: Batch
  #session: Session | undefined
  #isSent = false
  readonly #left: Promise<'left'>
  #leave!: () => void

  constructor(deps: BatchDeps, batch: Batch) {
    this.operations = batch.operations
    this.#deps = deps
    this.#batch = batch
    this.#left = new Promise((resolve) => {
      this.#leave = () => resolve('left')
    })
  }

  /** Whether an operation may have been done, as far as known. */
  mayHaveDone(operation: Operation): boolean {
    return this.#isSent && this.operations.includes(operation)
  }

  /** Call it when operations failed from outside, so that nothing continues without a caller. */
  leaveIfOver(): void {
    if (!this.#isOver) return
    // The connection may be dead, so no call gets it any more.
    this.#batch.connection.abandon(this.#session)
    // A commit that was sent may still be answered: its operations then refund what they were admitted for.
    if (!this.#isSent) this.#session?.release(true)
    this.#leave()
  }

  /** Never rejects. Afterwards every operation was answered, failed or passed on. */
  async run(): Promise<void> {
    const made = this.#made()
    if ((await Promise.race([made, this.#left])) !== 'left') return
    const timer = setTimeout(() => this.#session?.release(true), LISTEN_MS).unref()
    this.#deps.follow(made.finally(() => clearTimeout(timer)))
  }

  get #isOver(): boolean {
    return this.operations.every(({ isOver }) => isOver)
  }

  async #made(): Promise<void> {
    this.#deps.again(await this.#tried().catch((error: unknown) => this.#failed(error)))
  }

  #tried(): Promise<readonly Operation[]> {
    return this.#batch.connection.use(async (session) => {
      if (this.#isOver) return []
      this.#session = session
      const left = await this.#batch.commit(session, () => {
        this.#isSent = true
      })
      this.#isSent = false
      this.#deps.answered()
      return left.length === 0 ? left : answerUnlocked(session, left, this.#deps).catch(() => left)
    })
  }

  async #failed(error: unknown): Promise<readonly Operation[]> {
    const { answered, unanswered } = this.#deps
    if (isAnswer(error)) answered()
    // The error of a connection that was given up means nothing.
    else if (!this.#isOver) unanswered(error)
    if (this.#isSent && isInDoubt(error)) this.#doubt(error)
    this.#isSent = false
    await this.#judge(error)
    return this.operations
  }

  /** Fails operations that another try can't help. */
  async #judge(error: unknown): Promise<void> {
    // The connection is closed. Unless it was a new one, the next may lead to the primary.
    if (isReadOnly(error) && this.#session?.isNew === false) return
    if (isBadValue(error) && this.operations.length > 1) {
      for (const operation of this.operations) operation.isAlone = true
    } else if (verdictOf(error) === 'refused') {
      for (const operation of this.operations) {
        operation.fail(operation.isInDoubt ? refusal(error) : notDone(refusal(error)))
      }
    } else if (!isBetween(error)) await Promise.race([pause(AGAIN_AFTER_MS), this.#left])
  }

  #doubt(error: unknown): void {
    for (const operation of this.operations) {
      operation.isInDoubt ||= !operation.isRead
      if (!operation.isRepeatable) operation.fail(lostAnswer(error))
    }
  }
}
