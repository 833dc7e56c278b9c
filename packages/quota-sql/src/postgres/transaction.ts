import type { Asked, Key } from '../step/asked.ts'
import type { Change, Changes } from '../step/changes.ts'
import { keptText } from '../step/names.ts'
import type { Stored } from '../step/step.ts'
import { StoredRow } from '../step/stored.ts'
import { arrayOf } from './arrays.ts'
import { allOf, type Session, type StepSession } from './session.ts'
import type { PostgresStatements } from './statements.ts'

/** Has the server plan what a transaction needs. */
export function plan(session: Session): Promise<void> {
  const none: unknown[][] = [[], [], []]
  return session.plan({
    lockIds: none,
    lockRows: none,
    updateRows: [...none, [], []],
    updateIds: [...none, [], [], []],
    findRows: none,
    findIds: none,
    swapRows: [...none, [], [], '', '', '', '', 0, '', null, null],
  })
}

/** What is stored, read in a transaction. */
export interface Locked extends Stored {
  /** The transaction, as the server calls it. */
  readonly transaction: string
}

/** Locks what is asked for and reads it. */
export function lock(session: StepSession, asked: Asked): Promise<Locked> {
  return read(session, asked, 'lockRows')
}

/** Reads rows as they are, outside of a transaction. */
export function look(session: StepSession, asked: Asked): Promise<Stored> {
  return read(session, asked, 'lookAtRows')
}

async function read(session: StepSession, asked: Asked, statement: 'lockRows' | 'lookAtRows'): Promise<Locked> {
  const [idNames, rowNames] = [asked.idNames(), asked.rowNames()]
  const [idKeys, rowKeys] = [
    idNames.map((name) => asked.ids.get(name)!.key),
    rowNames.map((name) => asked.rows.get(name)!.key),
  ]
  // Ids before rows, everywhere; what owners have open comes when the lock of their number is held.
  const [ids, rows, holds] = await allOf([
    idKeys.length === 0 ? [] : session.run('lockIds', columnsOf(idKeys)),
    session.run(statement, columnsOf(rowKeys)),
    asked.owners.size === 0 ? [] : session.run('openHolds', [[...asked.owners].map(keptText)]),
  ])
  const [now, revision, , , transaction] = rows[0] ?? []
  return {
    transaction: String(transaction),
    now: Number(now),
    revision: String(revision),
    rows: new Map(
      rows.flatMap(([, , place, cells]) =>
        place === null ? [] : [[nameAt(rowNames, place), new StoredRow(String(cells))]],
      ),
    ),
    ids: new Map(ids.map(([place, record]) => [nameAt(idNames, place), String(record)])),
    holds: holds.map(([category, owner, id, record]) => ({
      key: [String(category), String(owner), String(id)],
      record: String(record),
    })),
  }
}

/** Whether any of these is there now. */
export async function isAnyThere(
  session: StepSession,
  { rows, ids }: { readonly rows: readonly Key[]; readonly ids: readonly Key[] },
): Promise<boolean> {
  const found = await allOf([
    rows.length === 0 ? [] : session.run('findRows', columnsOf(rows)),
    ids.length === 0 ? [] : session.run('findIds', columnsOf(ids)),
  ])
  return found.some((each) => each.length > 0)
}

/** Sends what has to be written. Rejects when any of it failed; all of it was answered then. */
export async function write(session: StepSession, { rows, ids }: Changes): Promise<void> {
  const writes: Promise<unknown>[] = []
  const send = (statement: keyof PostgresStatements, changes: readonly Change[], isOfIds: boolean): void => {
    if (changes.length === 0) return
    const columns = [arrayOf(changes.map(({ text }) => text)), arrayOf(changes.map(({ endsAt }) => endsAt))]
    const more = isOfIds ? [arrayOf(changes.map(({ holdEndsAt }) => holdEndsAt))] : []
    writes.push(session.run(statement, [...columnsOf(changes.map(({ key }) => key)), ...columns, ...more]))
  }
  send('updateRows', rows.filter(isOld), false)
  send('insertRows', inOrder(rows.filter(isNew)), false)
  send('updateIds', ids.filter(isOld), true)
  send('insertIds', inOrder(ids.filter(isNew)), true)
  await allOf(writes)
}

function isNew({ isNew: value }: Change): boolean {
  return value
}

function isOld({ isNew: value }: Change): boolean {
  return !value
}

/** New ones are made in one order everywhere: who makes the same waits for the first, and nobody for each other. */
function inOrder(changes: readonly Change[]): readonly Change[] {
  return changes.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function nameAt(names: readonly string[], place: unknown): string {
  return names[Number(place) - 1]!
}

/** Keys as a statement takes them: three arrays. */
export function columnsOf(keys: readonly Key[]): unknown[] {
  return [0, 1, 2].map((column) => arrayOf(keys.map((key) => key[column]!)))
}
