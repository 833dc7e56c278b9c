import timers from 'node:timers/promises'
import { type EndedHold, notDone } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import { isAnswer, isBadValue, isBetween, isInDoubt, isReadOnly, lostAnswer, refusal, verdictOf } from './errors.ts'
import type { Session, SessionDeps, SharedConnection } from './session.ts'
import { answerUnlocked, type DecisionDeps } from './transaction.ts'

// As they are now: a test may replace them later, and a server goes on.
const { setTimeout, clearTimeout } = globalThis
const { setTimeout: pause } = timers

/** The pause before an unavailable server is tried again, in milliseconds. */
const AGAIN_AFTER_MS = 20
/** How long to wait for an answer that no caller needs any more, in milliseconds. */
const LISTEN_MS = 5_000

/** The dependencies of a batch's transactions. */
export interface TransactionDeps extends SessionDeps, DecisionDeps {
  /** Runs operations in another transaction. */
  readonly again: (operations: readonly Operation[]) => void
  /** Receives the holds that ended in what was committed. */
  readonly ended: (holds: readonly EndedHold[]) => void
  /** Called when the server answered. */
  readonly answered: () => void
  /** Called when the server gave no answer. */
  readonly unanswered: (error: unknown) => void
  /** Called with work that no caller waits for. */
  readonly follow: (end: Promise<void>) => void
}

/**
 * A transaction for some operations. What was certainly not committed goes into another one. If the answer to a commit
 * is lost, its outcome is unknown: then only reads, and takes with an id, are repeated.
 */
export abstract class BatchTransaction {
  readonly operations: readonly Operation[]
  protected readonly deps: TransactionDeps
  readonly #connection: SharedConnection
  #session: Session | undefined
  #isSent = false
  readonly #left: Promise<'left'>
  #leave!: () => void

  constructor(deps: TransactionDeps, operations: readonly Operation[], connection: SharedConnection) {
    this.deps = deps
    this.operations = operations
    this.#connection = connection
    this.#left = new Promise((resolve) => {
      this.#leave = () => resolve('left')
    })
  }

  /** Commits, and answers operations. Returns those that were not done: what changes nothing is answered then, the rest goes on. */
  protected abstract commit(session: Session): Promise<readonly Operation[]>

  /** Whether an operation may have been done, as far as known. */
  mayHaveDone(operation: Operation): boolean {
    return this.#isSent && this.operations.includes(operation)
  }

  /** Call it when operations failed from outside, so that nothing continues without a caller. */
  leaveIfOver(): void {
    if (!this.#isOver) return
    // The connection may be dead, so no call gets it any more.
    this.#connection.abandon(this.#session)
    // A commit that was sent may still be answered: its operations then refund what they were admitted for.
    if (!this.#isSent) this.#session?.release(true)
    this.#leave()
  }

  /** Never rejects. Afterwards every operation was answered, failed or passed on. */
  async run(): Promise<void> {
    const made = this.#made()
    if ((await Promise.race([made, this.#left])) !== 'left') return
    const timer = setTimeout(() => this.#session?.release(true), LISTEN_MS).unref()
    this.deps.follow(made.finally(() => clearTimeout(timer)))
  }

  /** From now on it may be committed. */
  protected sent(): void {
    this.#isSent = true
  }

  get #isOver(): boolean {
    return this.operations.every(({ isOver }) => isOver)
  }

  async #made(): Promise<void> {
    this.deps.again(await this.#tried().catch((error: unknown) => this.#failed(error)))
  }

  #tried(): Promise<readonly Operation[]> {
    return this.#connection.use(async (session) => {
      if (this.#isOver) return []
      this.#session = session
      const left = await this.commit(session)
      this.#isSent = false
      this.deps.answered()
      return left.length === 0 ? left : answerUnlocked(session, left, this.deps).catch(() => left)
    })
  }

  async #failed(error: unknown): Promise<readonly Operation[]> {
    const { answered, unanswered } = this.deps
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
