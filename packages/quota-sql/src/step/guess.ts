import { CLOSED, type NamedCell } from '@scoregw/quota/store'
import type { Asked } from './asked.ts'
import type { Change } from './changes.ts'
import type { Stored } from './step.ts'
import { rollingLengthMs } from './stored.ts'

/** A row that is to become another one, if it still is what it was taken for. */
interface Swapped {
  readonly change: Change
  readonly before: string
}

/**
 * What was decided on rows as they were last seen. It is so at every instant from {@link from} to {@link to}, where the
 * settings are those of {@link revision} and no row has changed meanwhile: there all windows are open, and charges are all
 * that changes.
 */
export interface Guess {
  readonly rows: readonly Swapped[]
  readonly revision: string
  /** Epoch milliseconds. */
  readonly from: number
  /** The first instant at which it is no more, epoch milliseconds. */
  readonly to: number
}

/** How far from the end of a window nobody guesses any more, in milliseconds. */
const MARGIN_MS = 250

/**
 * A guess from what was decided. `undefined` where a row was only looked at, is new, or has cells that the clock moves: of
 * such rows comparing them does not say that a decision is of one instant.
 */
export function guessOf(asked: Asked, stored: Stored, changes: readonly Change[]): Guess | undefined {
  if (changes.length !== asked.rows.size) return undefined
  const rows: Swapped[] = []
  const span = { from: 0, to: Number.POSITIVE_INFINITY }
  // As all processes lock them: see Asked.
  const byName = new Map(changes.map((change) => [change.name, change]))
  for (const name of asked.rowNames()) {
    const change = byName.get(name)
    const before = stored.rows.get(name)
    if (change?.cells === undefined || before?.cells === undefined) return undefined
    if (!narrow(span, before.cells, change.cells)) return undefined
    rows.push({ change, before: before.text })
  }
  if (stored.now < span.from || stored.now + MARGIN_MS >= span.to) return undefined
  return { rows, revision: stored.revision, ...span }
}

/** Takes from a span the instants at which not all of these cells are open; whether they differ in what was used alone. */
function narrow(
  span: { from: number; to: number },
  before: readonly NamedCell[],
  after: readonly NamedCell[],
): boolean {
  const [was, is] = [before.filter(hasOpened), after.filter(hasOpened)]
  if (was.length !== is.length) return false
  for (const [index, [identity, startedAt, used]] of is.entries()) {
    const lengthMs = rollingLengthMs(identity)
    const [name, began, usedBefore] = was[index]!
    if (lengthMs === undefined || name !== identity || began !== startedAt) return false
    if (used === CLOSED || usedBefore === CLOSED) return false
    span.from = Math.max(span.from, startedAt)
    span.to = Math.min(span.to, startedAt + lengthMs)
  }
  return true
}

function hasOpened([, startedAt, used]: NamedCell): boolean {
  return startedAt !== CLOSED || used !== CLOSED
}
