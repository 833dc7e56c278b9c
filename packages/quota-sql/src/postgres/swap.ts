import type { Guess } from '../step/guess.ts'
import { arrayOf } from './arrays.ts'
import { allOf, type Session } from './session.ts'
import { columnsOf } from './transaction.ts'

/** What became of a {@link swap}. */
export interface SwapReply {
  /** Whether all rows are what the guess makes of them; otherwise nothing was done. */
  readonly isSwapped: boolean
  /** The server's clock when all rows were locked, epoch milliseconds. */
  readonly now: number
}

/**
 * Makes a guess so, if it is right, and ends the transaction that was begun: compares all rows, the revision and the clock,
 * and writes. What differs after a row was written undoes all of it.
 *
 * @param isTimed whether the server's clock is what decides
 */
export async function swap(
  session: Session,
  { rows, revision, from, to }: Guess,
  isTimed: boolean,
): Promise<SwapReply> {
  const last = rows.at(-1)!
  const values = [
    ...columnsOf(rows.map(({ change }) => change.key)),
    arrayOf(rows.map(({ before }) => before)),
    arrayOf(rows.map(({ change }) => change.text)),
    ...last.change.key,
    last.before,
    rows.length,
    revision,
    isTimed ? from : null,
    isTimed ? to : null,
  ]
  const [answer, isCommitted] = await allOf(
    session.together(() => [session.run('swapRows', values), session.commit()] as const),
  )
  const [isSwapped, now] = answer[0] ?? []
  return { isSwapped: isSwapped === true && isCommitted, now: Number(now) }
}

/** Whether a swap that was committed found what it looked for; `undefined`: nobody knows any more. */
export async function wasSwapped(session: Session, { rows }: Guess, transaction: string): Promise<true | undefined> {
  const found = await session.run('findWritten', [...columnsOf(rows.map(({ change }) => change.key)), transaction])
  return found.length > 0 ? true : undefined
}
