import type { EndedHold, Scratch, SnapshotPart } from '@scoregw/quota/store'
import type { TableNames } from '../schema/tables.ts'
import { Asked, type Footprint, type Key } from '../step/asked.ts'
import type { Change, Changes } from '../step/changes.ts'
import { keptText, textOf } from '../step/names.ts'
import type { Operation } from '../step/operation.ts'
import { restored } from '../step/restored.ts'
import { Step, type Stored } from '../step/step.ts'
import { footprintOf, StoredRow } from '../step/stored.ts'
import type { SqliteConnection, SqliteStatement } from './database.ts'

type Row = Readonly<Record<string, unknown>>

/** How often what is looked at may grow in one step. */
const MAX_WIDENED = 5

/** How a connection does its work. */
export interface ConnectionManner {
  /** How long a statement waits for another process that writes, in milliseconds. */
  readonly busyTimeoutMs: number
  /** How durable what is committed is. */
  readonly synchronous: string
}

/** What `pragma synchronous` says as a number. */
const LEVELS = ['off', 'normal', 'full', 'extra']

/** A file with the tables: steps in a transaction that is open already, and small calls. All of it answers at once. */
export class SqliteFile {
  readonly #database: SqliteConnection
  readonly #names: TableNames
  readonly #scratch: Scratch
  readonly #statements = new Map<string, SqliteStatement>()

  constructor(database: SqliteConnection, names: TableNames, scratch: Scratch) {
    this.#database = database
    this.#names = names
    this.#scratch = scratch
  }

  begin(): void {
    this.#database.exec('begin immediate')
  }

  commit(): void {
    this.#database.exec('commit')
  }

  rollback(): void {
    this.#database.exec('rollback')
  }

  /** Does some work behind a savepoint. */
  within(work: () => void): void {
    this.#database.exec('savepoint quota')
    try {
      work()
      this.#database.exec('release savepoint quota')
    } catch (error) {
      this.#database.exec('rollback to savepoint quota')
      this.#database.exec('release savepoint quota')
      throw error
    }
  }

  /** Does some work in a transaction of its own. */
  whole(work: () => void): void {
    this.begin()
    try {
      work()
      this.commit()
    } catch (error) {
      this.rollback()
      throw error
    }
  }

  /** How the connection does its work now. */
  manner(): ConnectionManner {
    const first = (text: string): unknown => Object.values(this.#all(text)[0] ?? {})[0]
    const synchronous = LEVELS[Number(first('pragma synchronous'))] ?? 'full'
    return { busyTimeoutMs: Number(first('pragma busy_timeout')), synchronous }
  }

  /** Has the connection do its work so from here on. Outside of transactions. */
  behave({ busyTimeoutMs, synchronous }: ConnectionManner): void {
    this.#database.exec(`pragma busy_timeout = ${busyTimeoutMs}; pragma synchronous = ${synchronous}`)
  }

  /** Takes over what a part of a memory store's snapshot holds, in the transaction that is open. */
  restore(part: SnapshotPart, now: number): void {
    const { rows, ids } = restored(part, this.#scratch, now)
    const isNew = ({ key }: Change, table: string, columns: string): boolean => {
      const [first, second, third] = columns.split(', ')
      const found = `select 1 from ${table} where ${first} = ? and ${second} = ? and ${third} = ?`
      return this.#all(found, ...key).length === 0
    }
    this.#write({
      rows: rows.filter((row) => isNew(row, this.#names.rows, 'layer, category, subject')),
      ids: ids.filter((id) => isNew(id, this.#names.ids, 'category, owner, id')),
    })
  }

  /** The version of what is stored. */
  format(): number {
    return Number(this.#all(`select version from ${this.#names.format}`)[0]?.version)
  }

  /** Decides and writes; the operations are to be answered when the transaction is committed. */
  step(operations: readonly Operation[], now: number): readonly EndedHold[] {
    const asked = new Asked()
    for (const { footprint } of operations) asked.add(footprint)
    const step = this.#loaded(asked, now)
    step.load()
    for (const operation of operations) operation.decide(step)
    this.#write(step.changes())
    return step.ended()
  }

  /** What it takes to settle each of the holds whose end has passed, the earliest first. */
  due(now: number, most: number): readonly Footprint[] {
    const { ids } = this.#names
    return this.#records(
      `select category, owner, id, record from ${ids} where hold_ends_at <= ? order by hold_ends_at limit ?`,
      now,
      most,
    ).map(({ key: [category, owner, id], record }) => {
      return footprintOf({ category, owner: textOf(owner), id: textOf(id) }, record)
    })
  }

  countHolds(): number {
    const [row] = this.#all(`select count(*) as open from ${this.#names.ids} where hold_ends_at is not null`)
    return Number(row?.open)
  }

  /** Forgets some of what ended long ago. */
  forget(now: number, most: number): void {
    const { rows, ids } = this.#names
    const forget = (table: string, key: string, column: string): string =>
      `delete from ${table} where (${key}) in (select ${key} from ${table} where ${column} <= ? limit ?)`
    this.#run(forget(rows, 'layer, category, subject', 'ends_at'), now, most)
    this.#run(forget(ids, 'category, owner, id', 'expires_at'), now, most)
  }

  #loaded(asked: Asked, now: number): Step {
    for (let widened = 0; ; widened++) {
      const step = new Step(asked, this.#stored(asked, now), this.#scratch)
      const missing = step.missing()
      if (missing === undefined || widened === MAX_WIDENED) return step
      asked.add(missing)
    }
  }

  #stored(asked: Asked, now: number): Stored {
    const { rows, ids, settings } = this.#names
    const [marked] = this.#all(
      `select revision from ${settings} where layer = '' and subject = '' and document is not null`,
    )
    const records = new Map<string, string>()
    for (const [name, { key }] of asked.ids) {
      const [row] = this.#all(
        `select record, expires_at from ${ids} where category = ? and owner = ? and id = ?`,
        ...key,
      )
      if (row === undefined) continue
      const isOver = row.expires_at !== null && Number(row.expires_at) <= now
      // What was found expired once does not live again where the clock steps back.
      if (isOver) this.#run(`delete from ${ids} where category = ? and owner = ? and id = ?`, ...key)
      else records.set(name, String(row.record))
    }
    return {
      now,
      revision: marked === undefined ? '' : String(marked.revision),
      rows: this.#rowsOf(asked, rows),
      ids: records,
      holds: [...asked.owners].flatMap((owner) =>
        this.#records(
          `select category, owner, id, record from ${ids} where owner = ? and hold_ends_at is not null`,
          keptText(owner),
        ),
      ),
    }
  }

  /** Rows of one layer and category by one statement: a call of the driver costs several times what a row does. */
  #rowsOf(asked: Asked, table: string): ReadonlyMap<string, StoredRow> {
    const stored = new Map<string, StoredRow>()
    for (const [[layer, category], names] of groupsOf(asked.rows)) {
      const subjects = names.map((name) => asked.rows.get(name)!.key[2])
      const [found] = this.#all(
        `select json_group_array(json_array(a.key, r.cells)) as found from json_each(?) a cross join ${table} r
          where r.layer = ? and r.category = ? and r.subject = a.value`,
        JSON.stringify(subjects),
        layer,
        category,
      )
      const pairs = JSON.parse(String(found?.found)) as readonly (readonly [number, string])[]
      for (const [place, cells] of pairs) stored.set(names[place]!, new StoredRow(cells))
    }
    return stored
  }

  #write(changes: Changes): void {
    const { rows, ids } = this.#names
    for (const { key, text, endsAt } of changes.rows) {
      this.#run(
        `insert into ${rows} (layer, category, subject, cells, ends_at) values (?, ?, ?, ?, ?)
         on conflict (layer, category, subject) do update set cells = excluded.cells, ends_at = excluded.ends_at`,
        ...key,
        text,
        endsAt,
      )
    }
    for (const change of changes.ids) this.#writeId(ids, change)
  }

  #writeId(ids: string, { key, text, endsAt, holdEndsAt }: Change): void {
    this.#run(
      `insert into ${ids} (category, owner, id, record, expires_at, hold_ends_at) values (?, ?, ?, ?, ?, ?)
       on conflict (category, owner, id) do update
         set record = excluded.record, expires_at = excluded.expires_at, hold_ends_at = excluded.hold_ends_at`,
      ...key,
      text,
      endsAt,
      holdEndsAt,
    )
  }

  #records(text: string, ...values: readonly unknown[]): readonly { readonly key: Key; readonly record: string }[] {
    return this.#all(text, ...values).map(({ category, owner, id, record }) => ({
      key: [String(category), String(owner), String(id)] as const,
      record: String(record),
    }))
  }

  #all(text: string, ...values: readonly unknown[]): readonly Row[] {
    return this.#prepared(text).all(...values) as readonly Row[]
  }

  #run(text: string, ...values: readonly unknown[]): void {
    this.#prepared(text).run(...values)
  }

  #prepared(text: string): SqliteStatement {
    const known = this.#statements.get(text) ?? this.#database.prepare(text)
    this.#statements.set(text, known)
    return known
  }
}

/** The names of rows by layer and category. */
function groupsOf(
  rows: ReadonlyMap<string, { readonly key: Key }>,
): Iterable<readonly [readonly [string, string], readonly string[]]> {
  const groups = new Map<string, readonly [readonly [string, string], string[]]>()
  for (const [name, { key }] of rows) {
    const [layer, category] = key
    const group = `${layer}\0${category}`
    const known = groups.get(group)
    if (known === undefined) groups.set(group, [[layer, category], [name]])
    else known[1].push(name)
  }
  return groups.values()
}
