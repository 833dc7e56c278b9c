import type { EndedHold, Workspace } from '@scoregw/quota/store'
import { Asked } from '../step/asked.ts'
import type { Changes } from '../step/changes.ts'
import type { Operation } from '../step/operation.ts'
import { Step, type Stored } from '../step/step.ts'
import { isAnswer, storeError } from './errors.ts'
import { allOf, Session, type SessionParts } from './session.ts'
import { isAnyThere, lock, look, plan, write } from './transaction.ts'

/** How often what has to be locked may grow in one attempt, before what is new is left to others. */
const MAX_WIDENED = 5

/** What attempts have in common. */
export interface AttemptContext extends SessionParts {
  /** Where decisions are made, each without a pause. */
  readonly workspace: Workspace
  /** Stands in for the server's clock. */
  readonly now: (() => number) | undefined
  /** Hears of the holds that ended in what was committed. */
  readonly ended: (holds: readonly EndedHold[]) => void
}

interface Decided {
  readonly changes: Changes
  /** Holds that ended. */
  readonly ended: readonly EndedHold[]
}

/** One transaction for some operations. */
export class Attempt {
  readonly operations: readonly Operation[]
  readonly #context: AttemptContext
  #session: Session | undefined
  #isCommitSent = false
  #isAbandoned = false

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

  async #transact(session: Session): Promise<void> {
    const asked = new Asked()
    for (const { footprint } of this.operations) asked.add(footprint)
    await plan(session)
    const isLook = this.operations.every((operation) => operation.isLook) && asked.owners.size === 0
    if (isLook) {
      this.#decide(this.#stepOf(asked, await look(session, asked)))
      return this.#answer([])
    }
    const { changes, ended } = await this.#locked(session, asked)
    this.#isCommitSent = true
    const [written, committed] = await Promise.allSettled(
      session.together(() => [write(session, changes), session.commit()] as const),
    )
    if (committed.status === 'rejected') {
      // An answer that says no is certain; silence is not.
      if (isAnswer(committed.reason)) this.#isCommitSent = false
      throw committed.reason
    }
    // After a statement that failed a commit is a rollback.
    if (written.status === 'rejected' || committed.value.command !== 'COMMIT') {
      this.#isCommitSent = false
      throw written.status === 'rejected' ? written.reason : storeError('PostgreSQL rolled the transaction back')
    }
    this.#answer(ended)
  }

  /** A step on everything that its operations need, locked and decided. */
  async #locked(session: Session, asked: Asked): Promise<Decided> {
    for (let widened = 0; ; widened++) {
      const [, stored] = await allOf(session.together(() => [session.begin(), lock(session, asked)] as const))
      const step = this.#stepOf(asked, stored)
      const missing = widened < MAX_WIDENED ? step.missing() : undefined
      const decided = missing === undefined ? await this.#confirmed(session, step) : undefined
      if (decided !== undefined) return decided
      // Locked in the one order, or not at all.
      await session.rollback()
      asked.add(missing ?? {})
    }
  }

  /** What is decided; `undefined` where something was made meanwhile that was not there. */
  async #confirmed(session: Session, step: Step): Promise<Decided | undefined> {
    const decided = this.#decide(step)
    const absent = step.absent(decided.changes)
    const isClear = absent.rows.length + absent.ids.length === 0 || !(await isAnyThere(session, absent))
    return isClear ? decided : undefined
  }

  #stepOf(asked: Asked, stored: Stored): Step {
    const { now, workspace } = this.#context
    return new Step(asked, now === undefined ? stored : { ...stored, now: now() }, workspace)
  }

  #decide(step: Step): Decided {
    step.load()
    for (const operation of this.operations) operation.decide(step)
    return { changes: step.changes(), ended: step.ended() }
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
