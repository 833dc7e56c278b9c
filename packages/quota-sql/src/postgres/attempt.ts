import type { EndedHold } from '@scoregw/quota/store'
import type { Operation } from '../step/operation.ts'
import { storeError } from '../step/store-error.ts'
import { type DecisionParts, decideOn, isLook, lookAt } from './decide.ts'
import { isAnswer } from './errors.ts'
import { Session, type SessionParts } from './session.ts'
import { keepLayouts, plan, write } from './transaction.ts'

/** What attempts have in common. */
export interface AttemptContext extends SessionParts, DecisionParts {
  /** Hears of the holds that ended in what was committed. */
  readonly ended: (holds: readonly EndedHold[]) => void
}

/** One transaction for some operations. */
export class Attempt {
  readonly operations: readonly Operation[]
  readonly #context: AttemptContext
  #session: Session | undefined
  #isCommitSent = false
  #isAbandoned = false
  /** What a commit makes so. */
  #decided: { readonly transaction: string; readonly ended: readonly EndedHold[] } | undefined

  constructor(context: AttemptContext, operations: readonly Operation[]) {
    this.#context = context
    this.operations = operations
  }

  /** Whether it may be done, as far as anybody knows who has no answer. */
  get mayBeDone(): boolean {
    return this.#isCommitSent
  }

  /**
   * Decides and commits; the operations are answered then. Where it rejects and {@link mayBeDone} is false, nothing was
   * done.
   */
  async run(): Promise<void> {
    const session = await Session.open(this.#context)
    if (this.#isAbandoned) {
      session.release(false)
      throw storeError('a connection came too late')
    }
    this.#session = session
    let isUsable = false
    try {
      await this.#transact(session)
      isUsable = true
    } catch (error) {
      isUsable = isAnswer(error) && (await isRolledBack(session))
      throw error
    } finally {
      session.release(!isUsable)
    }
  }

  /** Lets go of it where nobody waits any more: of the connection too, unless it may still tell that it was committed. */
  abandon(): void {
    this.#isAbandoned = true
    if (!this.#isCommitSent) this.giveUp()
  }

  /** Gives the connection up, whatever is under way on it. */
  giveUp(): void {
    this.#session?.release(true)
  }

  /**
   * Asks the server what became of a commit whose answer was lost, and answers the operations where it was made.
   *
   * @returns `open`: it may yet be made; `unknown`: the server does not know
   */
  async whatBecame(): Promise<'committed' | 'aborted' | 'open' | 'unknown'> {
    if (this.#decided === undefined) return 'unknown'
    const { transaction, ended } = this.#decided
    const session = await Session.open(this.#context)
    let isUsable = false
    try {
      const [row] = await session.run('whatBecame', [transaction])
      isUsable = true
      if (row?.[0] === 'in progress') return 'open'
      if (row?.[0] === 'aborted') {
        this.#isCommitSent = false
        return 'aborted'
      }
      if (row?.[0] !== 'committed') return 'unknown'
      this.#answer(ended)
      return 'committed'
    } catch (error) {
      isUsable = isAnswer(error)
      // As of a server in whose past the transaction is not.
      if (isUsable) return 'unknown'
      throw error
    } finally {
      session.release(!isUsable)
    }
  }

  async #transact(session: Session): Promise<void> {
    await plan(session)
    const { operations } = this
    if (isLook(operations)) {
      await lookAt(session, operations, this.#context)
      return this.#answer([])
    }
    const { layouts } = this.#context
    const decided = await decideOn(session, operations, this.#context)
    const { changes, ended } = decided
    const fresh = await keepLayouts(session, changes, layouts)
    this.#decided = decided
    this.#isCommitSent = true
    const [written, committed] = await Promise.allSettled(
      session.together(() => [write(session, changes), session.commit()] as const),
    )
    if (committed.status === 'rejected') {
      // An answer that says no is certain; silence is not.
      if (isAnswer(committed.reason)) this.#isCommitSent = false
      throw committed.reason
    }
    if (written.status === 'rejected' || !committed.value) {
      this.#isCommitSent = false
      throw written.status === 'rejected' ? written.reason : storeError('PostgreSQL rolled the transaction back')
    }
    for (const layout of fresh) layouts.keep(layout)
    this.#answer(ended)
  }

  #answer(ended: readonly EndedHold[]): void {
    for (const operation of this.operations) operation.done()
    this.#context.ended(ended)
  }
}

/** Whether a connection whose transaction failed may be used again. */
async function isRolledBack(session: Session): Promise<boolean> {
  try {
    await session.rollback()
    return true
  } catch {
    return false
  }
}
