import timers from 'node:timers/promises'
import { type EndedHold, newRevision, notDone } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import { isAnswer, isBetween, refusal, verdictOf } from './errors.ts'
import { onSession, type Session, type SessionDeps, type SharedConnection } from './session.ts'
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
  /** Fences that no transaction uses now. */
  readonly fences: Fence[]
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

/** A row in which transactions store their numbers one after the other, in case an answer is lost. */
export interface Fence {
  readonly id: string
  seq: number
}

/**
 * A transaction for some operations. What was certainly not committed goes into another one. If the answer to a commit
 * is lost, its fence is closed: that shows whether it was committed, and prevents a later commit.
 */
export abstract class BatchTransaction {
  readonly operations: readonly Operation[]
  protected readonly deps: TransactionDeps
  readonly #connection: SharedConnection
  readonly #fence: Fence
  #session: Session | undefined
  #isSent = false
  readonly #left: Promise<'left'>
  #leave!: () => void

  constructor(deps: TransactionDeps, operations: readonly Operation[], connection: SharedConnection) {
    this.deps = deps
    this.operations = operations
    this.#connection = connection
    this.#fence = deps.fences.pop() ?? { id: newRevision(), seq: 0 }
    this.#left = new Promise((resolve) => {
      this.#leave = () => resolve('left')
    })
  }

  /** Commits, and answers operations. Returns those that were not done: what changes nothing is answered then, the rest goes on. */
  protected abstract commit(session: Session): Promise<readonly Operation[]>

  /**
   * Answers operations of a transaction that was committed although its answer was lost. Returns those that were not
   * done.
   *
   * @param at its instant
   * @param keys of rows that it added to; `undefined` for all
   */
  protected abstract found(session: Session, at: number, keys?: readonly string[]): Promise<readonly Operation[]>

  /** Whether an operation may have been done, as far as known. */
  mayHaveDone(operation: Operation): boolean {
    return this.#isSent && this.operations.includes(operation)
  }

  /** Call it when operations failed from outside, so that nothing continues without a caller. */
  leaveIfOver(): void {
    if (!this.#isOver) return
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

  /** The transaction's fence and number. From now on it may be committed. */
  protected send(): readonly [fence: string, seq: number] {
    this.#isSent = true
    return [this.#fence.id, ++this.#fence.seq]
  }

  get #isOver(): boolean {
    return this.operations.every(({ isOver }) => isOver)
  }

  async #made(): Promise<void> {
    const { fences, again } = this.deps
    const left = await this.#tried().catch((error: unknown) => this.#failed(error))
    if (left === 'unknown') return
    fences.push(this.#fence)
    again(left)
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

  async #failed(error: unknown): Promise<readonly Operation[] | 'unknown'> {
    const { answered, unanswered } = this.deps
    if (isAnswer(error)) answered()
    // The error of a connection that was given up means nothing.
    else if (!this.#isOver) unanswered(error)
    if (this.#isSent && !isAnswer(error)) return this.#find()
    this.#isSent = false
    if (verdictOf(error) === 'refused') {
      for (const operation of this.operations) operation.fail(notDone(refusal(error)))
    } else if (!isBetween(error)) await this.#pause()
    return this.operations
  }

  async #find(): Promise<readonly Operation[] | 'unknown'> {
    while (!this.#isOver) {
      const found = await Promise.race([this.#found().catch(() => undefined), this.#left])
      if (found === 'left') break
      if (found !== undefined) {
        this.deps.answered()
        return found
      }
      await this.#pause()
    }
    return 'unknown'
  }

  #found(): Promise<readonly Operation[]> {
    const { id, seq } = this.#fence
    return onSession(this.deps, async (session) => {
      const [[last, at, keys] = []] = await session.run('closeFence', [id, seq])
      if (Number(last) >= seq) {
        return this.found(session, Number(at), keys === null ? undefined : (JSON.parse(String(keys)) as string[]))
      }
      this.#isSent = false
      return this.operations
    })
  }

  #pause(): Promise<unknown> {
    return Promise.race([pause(AGAIN_AFTER_MS), this.#left])
  }
}
