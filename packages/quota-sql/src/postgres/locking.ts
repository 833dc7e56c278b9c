import { type Operation, readsRows } from '../step/operation.ts'
import { isAnswer } from './errors.ts'
import { allOf, Line, type Session } from './session.ts'
import { answerUnlocked, type Decided, decideOn, write } from './transaction.ts'
import { Turn, type TurnParts } from './turn.ts'

/** Operations of any kind, decided on rows that are locked: the general way. */
export class LockingTurn extends Turn {
  #decided: Decided | undefined

  constructor(parts: TurnParts, operations: readonly Operation[]) {
    super(parts, operations, new Line(parts))
  }

  protected async commit(session: Session): Promise<readonly Operation[]> {
    const { operations, parts } = this
    // What only reads is answered without locks, but where it counts holds.
    if (operations.every(readsRows)) {
      return answerUnlocked(session, operations, parts)
    }
    try {
      this.#decided = await decideOn(session, operations, parts)
      const { changes } = this.#decided
      if (changes === undefined) await session.rollback()
      else {
        const number = this.send()
        await allOf(
          session.together(() => [write(session, changes), session.run('raiseFence', [...number]), session.commit()]),
        )
      }
    } catch (error) {
      if (isAnswer(error)) await session.rollback()
      throw error
    }
    return this.found()
  }

  protected async found(): Promise<readonly Operation[]> {
    for (const layout of this.#decided?.layouts ?? []) this.parts.layouts.keep(layout)
    for (const operation of this.operations) operation.done()
    this.parts.ended(this.#decided?.ended ?? [])
    return []
  }
}
