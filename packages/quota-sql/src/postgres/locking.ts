import { type Operation, readsRows } from '../step/operation.ts'
import { BatchTransaction, type TransactionDeps } from './batch-transaction.ts'
import { isAnswer } from './errors.ts'
import { allOf, type Session, SharedConnection } from './session.ts'
import { answerUnlocked, type Decided, decideOn, write } from './transaction.ts'

/** Operations of any kind, decided on locked rows: the general way. */
export class LockingTransaction extends BatchTransaction {
  #decided: Decided | undefined

  constructor(deps: TransactionDeps, operations: readonly Operation[]) {
    super(deps, operations, new SharedConnection(deps))
  }

  protected async commit(session: Session): Promise<readonly Operation[]> {
    const { operations, deps } = this
    // Pure reads need no locks, unless they count holds.
    if (operations.every(readsRows)) {
      return answerUnlocked(session, operations, deps)
    }
    try {
      this.#decided = await decideOn(session, operations, deps)
      const { changes } = this.#decided
      if (changes === undefined) await session.rollback()
      else {
        this.sent()
        await allOf(session.together(() => [write(session, changes), session.commit()]))
      }
    } catch (error) {
      if (isAnswer(error)) await session.rollback()
      throw error
    }
    for (const layout of this.#decided?.layouts ?? []) this.deps.layouts.keep(layout)
    for (const operation of this.operations) operation.done()
    this.deps.ended(this.#decided?.ended ?? [])
    return []
  }
}
