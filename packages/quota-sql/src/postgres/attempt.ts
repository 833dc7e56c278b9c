import type { EndedHold } from '@scoregw/quota/store'
import type { Guess } from '../step/guess.ts'
import type { Operation } from '../step/operation.ts'
import { storeError } from '../step/store-error.ts'
import { type DecisionParts, decideOn, isLook, lookAt } from './decide.ts'
import { isAnswer, isBetween, isWrongGuess } from './errors.ts'
import type { Guesses } from './guesses.ts'
import { Session, type SessionParts } from './session.ts'
import { type SwapReply, swap, wasSwapped } from './swap.ts'
import { plan, write } from './transaction.ts'

/** What attempts have in common. */
export interface AttemptContext extends SessionParts, DecisionParts {
  readonly guesses: Guesses
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
  /** What a commit makes so; `guess`: if it was right. */
  #decided: { readonly transaction: string; readonly ended: readonly EndedHold[]; readonly guess?: Guess } | undefined

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
    const { transaction, ended, guess } = this.#decided
    const session = await Session.open(this.#context)
    let isUsable = false
    try {
      const [row] = await session.run('whatBecame', [transaction])
      const isDone = guess === undefined || row?.[0] !== 'committed' || (await wasSwapped(session, guess, transaction))
      isUsable = true
      if (row?.[0] === 'in progress') return 'open'
      if (row?.[0] === 'aborted') {
        this.#isCommitSent = false
        return 'aborted'
      }
      if (row?.[0] !== 'committed' || !isDone) return 'unknown'
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
    const { guesses } = this.#context
    const asked = guesses.asked(operations)
    // It begins while it is decided what may be.
    let begun = asked && session.beginTold()
    begun?.catch(() => undefined)
    const guess = asked && guesses.make(asked, operations, this.#context)
    if (begun !== undefined && guess !== undefined) {
      if (await this.#isSwapped(session, guess, await begun)) return
      begun = undefined
    }
    const decided = await decideOn(session, operations, this.#context, begun)
    const { changes, ended } = decided
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
    this.#context.guesses.learn(decided.stored, changes)
    this.#answer(ended)
  }

  /** Whether everything is done as it was guessed; otherwise nothing is, and the transaction is over. */
  async #isSwapped(session: Session, guess: Guess, transaction: string): Promise<boolean> {
    const { guesses, now } = this.#context
    let reply: SwapReply
    this.#decided = { transaction, ended: [], guess }
    this.#isCommitSent = true
    try {
      reply = await swap(session, guess, now === undefined)
    } catch (error) {
      if (isAnswer(error)) this.#isCommitSent = false
      if (!isWrongGuess(error) && !isBetween(error)) throw error
      guesses.wrong()
      return false
    }
    if (!reply.isSwapped) {
      this.#isCommitSent = false
      guesses.wrong()
      return false
    }
    guesses.right(guess, reply.now)
    if (now === undefined) for (const operation of this.operations) operation.moveTo(reply.now)
    this.#answer([])
    return true
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
