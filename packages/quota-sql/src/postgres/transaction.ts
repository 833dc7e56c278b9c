import type { Asked, Key } from '../step/asked.ts'
import type { Changes, IdChange, RowChange } from '../step/changes.ts'
import { keptText } from '../step/names.ts'
import type { Layouts, RowLayout } from '../step/row-layout.ts'
import type { Absent, Stored } from '../step/step.ts'
import { arrayOf } from './arrays.ts'
import { allOf, type Row, type Session, type StepSession } from './session.ts'
import type { PostgresStatements } from './statements.ts'

/** How long a new row waits for another transaction that makes the same one. */
const HURRY = '200ms'

/** Has the server plan what a transaction needs. */
export function plan(session: Session): Promise<void> {
  const none: unknown[][] = [[], [], [], [], [], []]
  return session.plan(`${session.prefix} general`, () => [
    session.run('lockIds', none.slice(0, 3)),
    session.run('lockRows', none.slice(0, 1)),
    session.run('updateRows', none.slice(0, 4)),
    session.run('updateIds', none),
    session.run('findRows', none.slice(0, 1)),
    session.run('findIds', none.slice(0, 3)),
  ])
}

/** What is stored, read in a transaction. */
export interface Locked extends Stored {
  /** The transaction, as the server calls it. */
  readonly transaction: string
}

/** Locks what is asked for and reads it. */
export function lock(session: StepSession, asked: Asked, layouts: Layouts): Promise<Locked> {
  return read(session, asked, layouts, 'lockRows')
}

/** Reads rows as they are, outside of a transaction. */
export function look(session: StepSession, asked: Asked, layouts: Layouts): Promise<Stored> {
  return read(session, asked, layouts, 'lookAtRows')
}

async function read(
  session: StepSession,
  asked: Asked,
  layouts: Layouts,
  statement: 'lockRows' | 'lookAtRows',
): Promise<Locked> {
  const [idNames, rowKeys] = [asked.idNames(), asked.rowKeys()]
  const idKeys = idNames.map((name) => asked.ids.get(name)!.key)
  // Ids before rows, everywhere; what owners have open comes when the lock of their number is held.
  const [ids, rows, holds] = await allOf([
    idKeys.length === 0 ? [] : session.run('lockIds', columnsOf(idKeys)),
    session.run(statement, [arrayOf(rowKeys)]),
    asked.owners.size === 0 ? [] : session.run('openHolds', [[...asked.owners].map(keptText)]),
  ])
  const [now, revision, transaction] = rows[0] ?? []
  const found = rows.filter(([, , , place]) => place !== null)
  await learnLayouts(
    session,
    found.map(([, , , , layout]) => Number(layout)),
    layouts,
  )
  return {
    transaction: String(transaction),
    now: Number(now),
    revision: String(revision),
    rows: new Map(
      found.map(([, , , place, layout, cells, endsAt]) => {
        const row = layouts.row(Number(layout), String(cells), endsAt === null ? null : Number(endsAt))
        return [rowKeys[Number(place) - 1]!, row]
      }),
    ),
    ids: new Map(ids.map(([place, record]) => [idNames[Number(place) - 1]!, String(record)])),
    holds: holds.map(([category, owner, id, record]) => ({
      key: [String(category), String(owner), String(id)],
      record: String(record),
    })),
  }
}

/** Reads the layouts of rows that are not known yet. */
async function learnLayouts(session: StepSession, hashes: readonly number[], layouts: Layouts): Promise<void> {
  const unknown = [...new Set(hashes)].filter((hash) => hash !== 0 && layouts.get(hash) === undefined)
  if (unknown.length === 0) return
  for (const [hash, list] of await session.run('layouts', [unknown])) layouts.learn(Number(hash), String(list))
}

/** Whether any of these is there now. */
export async function isAnyThere(session: StepSession, { rows, ids }: Absent): Promise<boolean> {
  const found = await allOf([
    rows.length === 0 ? [] : session.run('findRows', [arrayOf(rows)]),
    ids.length === 0 ? [] : session.run('findIds', columnsOf(ids)),
  ])
  return found.some((each) => each.length > 0)
}

/**
 * Stores what the cells of rows are, before the first row that needs it.
 *
 * @returns those that are stored if the transaction is committed
 * @throws {QuotaError} `store_mismatch`
 */
export async function keepLayouts(
  session: StepSession,
  { rows }: Changes,
  layouts: Layouts,
): Promise<readonly RowLayout[]> {
  const all = new Set(rows.flatMap(({ layout }) => (layout === undefined || layouts.isKept(layout) ? [] : [layout])))
  const fresh = [...all].sort((a, b) => a.hash - b.hash)
  if (fresh.length === 0) return fresh
  const hashes = fresh.map(({ hash }) => hash)
  const [, stored] = await allOf(
    session.together(
      () =>
        [
          session.run('keepLayouts', [hashes, fresh.map(({ list }) => list)]),
          session.run('layouts', [hashes]),
        ] as const,
    ),
  )
  const lists = new Map(stored.map(([hash, list]) => [Number(hash), list]))
  for (const layout of fresh) layouts.check(layout, lists.get(layout.hash))
  return fresh
}

/** Sends what has to be written. Rejects when any of it failed; all of it was answered then. */
export async function write(session: StepSession, { rows, ids }: Changes): Promise<void> {
  const writes: Promise<readonly Row[]>[] = []
  const send = (statement: keyof PostgresStatements, values: unknown[]): void => {
    writes.push(session.run(statement, values))
  }
  const [oldRows, newRows] = parted(rows)
  const [oldIds, newIds] = parted(ids)
  if (oldRows.length > 0) send('updateRows', rowColumns(oldRows))
  if (newRows.length > 0) {
    // Shared rows are locked: another process that waits for one and has made the same row would be waited for in a circle.
    send('hurry', [HURRY])
    // Made in one order everywhere: the second of two that make the same waits for the first, and never the other way.
    send('insertRows', rowColumns(newRows.toSorted((a, b) => (a.key < b.key ? -1 : 1))))
    send('relax', [])
  }
  if (oldIds.length > 0) send('updateIds', idColumns(oldIds))
  if (newIds.length > 0) send('insertIds', idColumns(newIds.toSorted((a, b) => (a.name < b.name ? -1 : 1))))
  await allOf(writes)
}

function parted<C extends { readonly isNew: boolean }>(changes: readonly C[]): readonly [old: C[], fresh: C[]] {
  return [changes.filter(({ isNew }) => !isNew), changes.filter(({ isNew }) => isNew)]
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

/** The keys of ids as a statement takes them: three arrays. */
function columnsOf(keys: readonly Key[]): unknown[] {
  return [0, 1, 2].map((column) => arrayOf(keys.map((key) => key[column]!)))
}
