import type { EndedHold } from '@scoregw/quota/store'
import { Asked } from '../step/asked.ts'
import type { Changes } from '../step/changes.ts'
import type { Operation } from '../step/operation.ts'
import { Step, type StepParts, type Stored } from '../step/step.ts'
import { allOf, type StepSession } from './session.ts'
import { isAnyThere, lock, look } from './transaction.ts'

/** How often what has to be locked may grow in one attempt, before what is new is left to others. */
const MAX_WIDENED = 5

/** What decisions are made with. */
export interface DecisionParts extends StepParts {
  /** Stands in for the server's clock. */
  readonly now: (() => number) | undefined
}

/** What is to be written before the operations are answered. */
interface Decided {
  readonly changes: Changes
  /** Holds that ended. */
  readonly ended: readonly EndedHold[]
}

/** What is decided in a transaction that is open. */
export interface DecidedIn extends Decided {
  /** As the server calls it. */
  readonly transaction: string
}

/** Whether operations only look, and nothing has to be locked for them. */
export function isLook(operations: readonly Operation[]): boolean {
  return operations.every((operation) => operation.isLook && operation.footprint.shownOwners === undefined)
}

/** Looks, without a transaction. */
export async function lookAt(
  session: StepSession,
  operations: readonly Operation[],
  parts: DecisionParts,
): Promise<void> {
  const asked = askedBy(operations)
  decide(stepOf(asked, await look(session, asked, parts.layouts), parts), operations)
}

/**
 * Decides on rows that are not locked.
 *
 * @returns whether that stands: all of it was true at the instant of the rows, and it changes nothing
 */
export function decideUnlocked(operation: Operation, stored: Stored, parts: DecisionParts): boolean {
  const step = stepOf(askedBy([operation]), stored, parts)
  return decide(step, [operation]).changes.rows.length === 0 && !operation.isCharging
}

/** Begins, locks everything that operations need, and decides. */
export async function decideOn(
  session: StepSession,
  operations: readonly Operation[],
  parts: DecisionParts,
): Promise<DecidedIn> {
  const asked = askedBy(operations)
  for (let widened = 0; ; widened++) {
    const [, stored] = await allOf(
      session.together(() => [session.begin(), lock(session, asked, parts.layouts)] as const),
    )
    const step = stepOf(asked, stored, parts)
    const missing = widened < MAX_WIDENED ? step.missing() : undefined
    const decided = missing === undefined ? await confirmed(session, step, operations) : undefined
    if (decided !== undefined) return { ...decided, transaction: stored.transaction }
    // Locked in the one order, or not at all.
    await session.rollback()
    asked.add(missing ?? {})
  }
}

/** What is decided; `undefined` where something was made meanwhile that was not there. */
async function confirmed(
  session: StepSession,
  step: Step,
  operations: readonly Operation[],
): Promise<Decided | undefined> {
  const decided = decide(step, operations)
  const absent = step.absent(decided.changes)
  const isClear = absent.rows.length + absent.ids.length === 0 || !(await isAnyThere(session, absent))
  return isClear ? decided : undefined
}

function decide(step: Step, operations: readonly Operation[]): Decided {
  step.load()
  for (const operation of operations) operation.decide(step)
  return { changes: step.changes(), ended: step.ended() }
}

export function askedBy(operations: readonly Operation[]): Asked {
  const asked = new Asked()
  for (const { footprint } of operations) asked.add(footprint)
  return asked
}

function stepOf(asked: Asked, stored: Stored, parts: DecisionParts): Step {
  return new Step(asked, parts.now === undefined ? stored : { ...stored, now: parts.now() }, parts)
}
