import type { EndedHold } from '@scoregw/quota/store'
import { checkFormat } from '../schema/tables.ts'
import type { Changes, IdChange, RowChange } from '../step/changes.ts'
import { keptText } from '../step/names.ts'
import type { Operation } from '../step/operation.ts'
import { type Key, nameOf, Requested } from '../step/requested.ts'
import type { Layouts, RowLayout } from '../step/row-layout.ts'
import { Step, type StepDeps, type Stored } from '../step/step.ts'
import type { StoredHold } from '../step/stored.ts'
import { allOf, arrayOf, type Row, type StepSession } from './session.ts'

/** How often one transaction may lock more rows before it leaves new rows to others. */
const MAX_WIDENED = 5

/** The dependencies of a decision. */
export interface DecisionDeps extends StepDeps {
  /** Replaces the server's clock. */
  readonly now: (() => number) | undefined
}

/** The decisions of a transaction, to be written before its operations are answered. */
export interface Decided {
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

export function requestedBy(operations: readonly Operation[]): Requested {
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
    ids.length === 0 ? [] : session.run('lockIds', columnsOf(ids)),
    rows.length === 0 ? [] : session.run('lockRows', [arrayOf(rows)]),
    read(session, requested, layouts),
  ])
  const [readIds, readRows] = [new Map(stored.ids), new Map(stored.rows)]
  for (const key of madeIds) readIds.delete(nameOf(key as Key))
  for (const [key] of madeRows) readRows.delete(String(key))
  return { ...stored, ids: readIds, rows: readRows }
}

/** Reads the rows and records of operations without locking. */
export async function read(session: StepSession, requested: Requested, layouts: Layouts): Promise<Stored> {
  const [idNames, rowKeys] = [requested.idNames(), requested.rowKeys()]
  // The open holds of an owner are complete once the lock of their number is held.
  const [ids, rows, holds] = await allOf([
    idNames.length === 0 ? [] : session.run('readIds', columnsOf(idNames.map((name) => requested.ids.get(name)!.key))),
    session.run('readRows', [arrayOf(rowKeys)]),
    requested.owners.size === 0 ? [] : session.run('openHolds', [[...requested.owners].map(keptText)]),
  ])
  const [now, revision] = rows[0] ?? []
  const found = rows.filter(([, , place]) => place !== null)
  const hashes = new Set(found.map(([, , , hash]) => Number(hash)))
  const unknown = [...hashes].filter((hash) => hash !== 0 && layouts.get(hash) === undefined)
  const lists = unknown.length === 0 ? [] : await session.run('layouts', [unknown])
  for (const [hash, list] of lists) layouts.learn(Number(hash), String(list))
  return {
    now: Number(now),
    revision: String(revision),
    rows: new Map(
      found.map(([, , place, layout, cells, endsAt]) => {
        const row = layouts.row(Number(layout), String(cells), endsAt === null ? null : Number(endsAt))
        return [rowKeys[Number(place) - 1]!, row]
      }),
    ),
    ids: new Map(ids.map(([place, record]) => [idNames[Number(place) - 1]!, String(record)])),
    holds: holds.map(storedHold),
  }
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
      session.run('keepLayouts', [hashes, fresh.map(({ list }) => list)]),
      session.run('keptLayouts', [hashes]),
    ]),
  )
  checkFormat(Number(stored[0]?.[0]))
  const lists = new Map(stored.map(([, hash, list]) => [Number(hash), list]))
  for (const layout of fresh) layouts.check(layout, lists.get(layout.hash))
}

/** Sends all writes. If one fails, it rejects after all were answered. */
export async function write(session: StepSession, { rows, ids, spareRows, spareIds }: Changes): Promise<void> {
  await allOf([
    rows.length === 0 ? [] : session.run('updateRows', rowColumns(rows)),
    spareRows.length === 0 ? [] : session.run('deleteRows', [arrayOf(spareRows)]),
    ids.length === 0 ? [] : session.run('updateIds', idColumns(ids)),
    spareIds.length === 0 ? [] : session.run('deleteIds', columnsOf(spareIds)),
  ])
}

function rowColumns(changes: readonly RowChange[]): unknown[] {
  return [
    arrayOf(changes.map(({ key }) => key)),
    arrayOf(changes.map(({ layout }) => layout?.hash ?? 0)),
    arrayOf(changes.map(({ pairs }) => `{${pairs.join()}}`)),
    arrayOf(changes.map(({ endsAt }) => endsAt)),
  ]
}

function idColumns(changes: readonly IdChange[]): unknown[] {
  return [
    ...columnsOf(changes.map(({ key }) => key)),
    arrayOf(changes.map(({ text }) => text)),
    arrayOf(changes.map(({ endsAt }) => endsAt)),
    arrayOf(changes.map(({ holdEndsAt }) => holdEndsAt)),
  ]
}

/** The keys of ids as a statement's values: three arrays. */
function columnsOf(keys: readonly Key[]): unknown[] {
  return [0, 1, 2].map((column) => arrayOf(keys.map((key) => key[column]!)))
}
