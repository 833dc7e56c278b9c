import type { EndedHold } from '@scoregw/quota/store'
import { COLUMN_CELLS, cellColumns, checkFormat } from '../schema/tables.ts'
import { type Operation, readsRows } from '../step/operation.ts'
import { Requested } from '../step/requested.ts'
import { type Changes, type IdChange, type RowChange, Step, type StepDeps, type Stored } from '../step/step.ts'
import {
  type Key,
  keptText,
  type Layouts,
  nameOf,
  type RowLayout,
  type StoredHold,
  type StoredRow,
} from '../step/stored.ts'
import { isAnswer } from './errors.ts'
import { allOf, arrayOf, type Row, type StepSession } from './session.ts'
import { NONE } from './statements.ts'

/** How often one transaction may lock more rows before it leaves new rows to others. */
const MAX_WIDENED = 5

/** The dependencies of a decision. */
export interface DecisionDeps extends StepDeps {
  /** Replaces the server's clock. */
  readonly now: (() => number) | undefined
}

/**
 * Carries operations out and answers them. Returns those that were not done: what changes nothing is answered then, the
 * rest goes on.
 *
 * @param sent is called when from now on it may be committed
 */
export type Commit = (session: StepSession, sent: () => void) => Promise<readonly Operation[]>

interface LockingDeps extends DecisionDeps {
  /** Receives the holds that ended in what was committed. */
  readonly ended: (holds: readonly EndedHold[]) => void
}

/** Operations of any kind, decided on locked rows: the general way. */
export function locking(operations: readonly Operation[], deps: LockingDeps): Commit {
  return async (session, sent) => {
    // Pure reads need no locks, unless they count holds.
    if (operations.every(readsRows)) return answerUnlocked(session, operations, deps)
    const { layouts, ended } = await decideAndCommit(session, operations, { deps, sent })
    for (const layout of layouts) deps.layouts.keep(layout)
    for (const operation of operations) operation.done()
    deps.ended(ended)
    return []
  }
}

async function decideAndCommit(
  session: StepSession,
  operations: readonly Operation[],
  { deps, sent }: { readonly deps: DecisionDeps; readonly sent: () => void },
): Promise<Decided> {
  try {
    const decided = await decideOn(session, operations, deps)
    const { changes } = decided
    if (changes === undefined) await session.rollback()
    else {
      sent()
      await allOf(session.together(() => [write(session, changes), session.commit()]))
    }
    return decided
  } catch (error) {
    if (isAnswer(error)) await session.rollback()
    throw error
  }
}

/** The decisions of a transaction, to be written before its operations are answered. */
interface Decided {
  /** `undefined` if the transaction may be rolled back. */
  readonly changes: Changes | undefined
  /** Holds that ended. */
  readonly ended: readonly EndedHold[]
  /** Layouts that become stored with the commit. */
  readonly layouts: readonly RowLayout[]
}

/**
 * Answers the operations that change nothing, from unlocked rows. Returns the others. A read changes nothing, even if a
 * write would remove ended holds.
 */
export async function answerUnlocked(
  session: StepSession,
  operations: readonly Operation[],
  deps: DecisionDeps,
): Promise<readonly Operation[]> {
  const stored = await read(session, requestedBy(operations), deps.layouts)
  return operations.filter((operation) => {
    const step = stepOf(requestedBy([operation]), stored, deps)
    decide(step, [operation])
    if (!operation.isRead && step.changes().rows.length > 0) return true
    operation.done()
    return false
  })
}

/**
 * Begins a transaction, locks everything that operations need, and decides.
 *
 * @throws {QuotaError} `store_mismatch`
 */
export async function decideOn(
  session: StepSession,
  operations: readonly Operation[],
  deps: DecisionDeps,
): Promise<Decided> {
  const requested = requestedBy(operations)
  for (let widened = 0; ; widened++) {
    const [, stored] = await allOf(session.together(() => [session.begin(), lock(session, requested, deps.layouts)]))
    const step = stepOf(requested, stored, deps)
    const missing = widened < MAX_WIDENED ? step.missing() : undefined
    if (missing === undefined) {
      decide(step, operations)
      const [changes, ended] = [step.changes(), step.ended()]
      const isChanged = changes.rows.length + changes.ids.length > 0
      const layouts = await keepLayouts(session, changes, deps.layouts)
      return { changes: isChanged ? changes : undefined, ended, layouts }
    }
    // Locked in the common order, or not at all.
    await session.rollback()
    requested.add(missing)
  }
}

function decide(step: Step, operations: readonly Operation[]): void {
  step.load()
  for (const operation of operations) operation.decide(step)
}

function requestedBy(operations: readonly Operation[]): Requested {
  const requested = new Requested()
  for (const { footprint } of operations) requested.add(footprint)
  return requested
}

function stepOf(requested: Requested, stored: Stored, { now, ...deps }: DecisionDeps): Step {
  return new Step(requested, now === undefined ? stored : { ...stored, now: now() }, deps)
}

/** Locks the rows of operations in the order that all processes use, ids first. Inserts missing rows, and reads all. */
async function lock(session: StepSession, requested: Requested, layouts: Layouts): Promise<Stored> {
  const [ids, rows] = [requested.idNames().map((name) => requested.ids.get(name)!.key), requested.rowKeys()]
  const [madeIds, madeRows, stored] = await allOf([
    ids.length === 0 ? [] : session.run(session.statements.lockIds, columnsOf(ids)),
    rows.length === 0 ? [] : session.run(session.statements.lockRows, [arrayOf(rows)]),
    read(session, requested, layouts),
  ])
  const [readIds, readRows] = [new Map(stored.ids), new Map(stored.rows)]
  for (const key of madeIds) readIds.delete(nameOf(key as Key))
  for (const [key] of madeRows) readRows.delete(String(key))
  return { ...stored, ids: readIds, rows: readRows }
}

/** Reads the rows and records of operations without locking. */
async function read(session: StepSession, requested: Requested, layouts: Layouts): Promise<Stored> {
  const [idNames, rowKeys] = [requested.idNames(), requested.rowKeys()]
  const widest = Math.max(0, ...[...requested.rows.values()].flatMap(({ layouts: of }) => of.map(widthOf)))
  // The open holds of an owner are complete once the lock of their number is held.
  const [ids, rows, holds] = await allOf([
    idNames.length === 0
      ? []
      : session.run(session.statements.readIds, columnsOf(idNames.map((name) => requested.ids.get(name)!.key))),
    session.run(session.statements.readRows(widest), [arrayOf(rowKeys)]),
    requested.owners.size === 0 ? [] : session.run(session.statements.openHolds, [[...requested.owners].map(keptText)]),
  ])
  const [now, revision] = rows[0] ?? []
  return {
    now: Number(now),
    revision: String(revision),
    rows: await rowsOf(session, rowKeys, rows, widest, layouts),
    ids: new Map(ids.map(([place, record]) => [idNames[Number(place) - 1]!, String(record)])),
    holds: holds.map(storedHold),
  }
}

/** Rows as they are stored, by key. Rows of other policies may have more cells than were read. */
async function rowsOf(
  session: StepSession,
  keys: readonly string[],
  rows: readonly Row[],
  width: number,
  layouts: Layouts,
): Promise<ReadonlyMap<string, StoredRow>> {
  const found = rows.filter(([, , place]) => place !== null)
  const hashes = new Set(found.map(([, , , hash]) => Number(hash)))
  const unknown = [...hashes].filter((hash) => hash !== 0 && layouts.get(hash) === undefined)
  const lists = unknown.length === 0 ? [] : await session.run(session.statements.layouts, [unknown])
  for (const [hash, list] of lists) layouts.learn(Number(hash), String(list))
  const widest = Math.max(0, ...[...hashes].map((hash) => widthOf(layouts.get(hash))))
  if (widest > width) {
    const again = await session.run(session.statements.readRows(widest), [arrayOf(keys)])
    return rowsOf(session, keys, again, widest, layouts)
  }
  return new Map(
    found.map(([, , place, hash, endsAt, more, ...columns]) => {
      const size = 2 * widthOf(layouts.get(Number(hash)))
      const cells = [...columns.slice(0, size), ...(more === null ? [] : String(more).slice(1, -1).split(','))]
      const numbers = cells.map((cell) => (cell === null ? cell : Number(cell)))
      return [keys[Number(place) - 1]!, layouts.row(Number(hash), numbers, endsAt === null ? null : Number(endsAt))]
    }),
  )
}

function widthOf(layout: RowLayout | undefined): number {
  return layout?.identities.length ?? 0
}

export function storedHold([layer, owner, id, record]: Row): StoredHold {
  return { key: [String(layer), String(owner), String(id)], record: String(record) }
}

/**
 * Stores the identities of rows' cells before the first row that uses them. Returns the layouts that were not known to
 * be stored.
 */
async function keepLayouts(session: StepSession, { rows }: Changes, layouts: Layouts): Promise<readonly RowLayout[]> {
  const all = new Set(rows.flatMap(({ layout }) => (layout === undefined || layouts.isKept(layout) ? [] : [layout])))
  const fresh = [...all].sort((a, b) => a.hash - b.hash)
  if (fresh.length > 0) await storeLayouts(session, fresh, layouts)
  return fresh
}

/** @throws {QuotaError} `store_mismatch`; `other_version` */
export async function storeLayouts(session: StepSession, fresh: readonly RowLayout[], layouts: Layouts): Promise<void> {
  const hashes = fresh.map(({ hash }) => hash)
  const [, stored] = await allOf(
    session.together(() => [
      session.run(session.statements.keepLayouts, [hashes, fresh.map(({ list }) => list)]),
      session.run(session.statements.keptLayouts, [hashes]),
    ]),
  )
  checkFormat(Number(stored[0]?.[0]))
  const lists = new Map(stored.map(([, hash, list]) => [Number(hash), list]))
  for (const layout of fresh) layouts.check(layout, lists.get(layout.hash))
}

/** Sends all writes. If one fails, it rejects after all were answered. */
export async function write(session: StepSession, { rows, ids, spareRows, spareIds }: Changes): Promise<void> {
  await allOf([
    rows.length === 0 ? [] : updateRows(session, rows),
    spareRows.length === 0 ? [] : session.run(session.statements.deleteRows, [arrayOf(spareRows)]),
    ids.length === 0 ? [] : session.run(session.statements.updateIds, idColumns(ids)),
    spareIds.length === 0 ? [] : session.run(session.statements.deleteIds, columnsOf(spareIds)),
  ])
}

function updateRows(session: StepSession, changes: readonly RowChange[]): Promise<unknown> {
  const width = Math.max(1, ...changes.map(({ layout }) => widthOf(layout)))
  const columns = cellColumns(width).map((_, at) => arrayOf(changes.map(({ pairs }) => pairs[at] ?? NONE)))
  const more = changes.map(({ pairs }) => `{${pairs.slice(2 * COLUMN_CELLS).join()}}`)
  return session.run(session.statements.updateRows(width), [
    arrayOf(changes.map(({ key }) => key)),
    arrayOf(changes.map(({ layout }) => layout?.hash ?? 0)),
    arrayOf(changes.map(({ endsAt }) => endsAt ?? NONE)),
    ...columns,
    ...(width > COLUMN_CELLS ? [arrayOf(more)] : []),
  ])
}

function idColumns(changes: readonly IdChange[]): unknown[] {
  return [
    ...columnsOf(changes.map(({ key }) => key)),
    arrayOf(changes.map(({ text }) => text)),
    arrayOf(changes.map(({ endsAt }) => endsAt ?? NONE)),
    arrayOf(changes.map(({ holdEndsAt }) => holdEndsAt ?? NONE)),
  ]
}

/** The keys of ids as a statement's values: three arrays. */
function columnsOf(keys: readonly Key[]): unknown[] {
  return [0, 1, 2].map((column) => arrayOf(keys.map((key) => key[column]!)))
}
