import { errorText } from '@scoregw/quota/internal'
import { type EndedHold, Scratch } from '@scoregw/quota/store'
import type { TableNames } from '../schema/tables.ts'
import type { Operation } from '../step/operation.ts'
import { Requested } from '../step/requested.ts'
import { type Changes, type IdChange, type RowChange, Step, type StepDeps, type Stored } from '../step/step.ts'
import { keptText, Layouts, type RowLayout, type StoredHold, type StoredRow } from '../step/stored.ts'

type Row = Readonly<Record<string, unknown>>

const IS_ID = 'layer = ? and owner = ? and id = ?'
/** How often the rows to read may grow in one step. */
const MAX_WIDENED = 5

/** Settings of a connection that the counters change while they use it. */
export interface ConnectionManner {
  /** How long a statement waits for another process that writes, in milliseconds. */
  readonly busyTimeoutMs: number
  /** How durable commits are. */
  readonly synchronous: string | number
}

/** A file with the tables. It runs steps in an open transaction, and small calls, all synchronously. */
export class SqliteFile {
  readonly #database: SqliteConnection
  readonly #names: TableNames
  readonly layouts: Layouts = new Layouts()
  readonly #deps: StepDeps = { scratch: new Scratch(), layouts: this.layouts }
  /** Layouts that the current transaction has stored. */
  #fresh: RowLayout[] = []
  readonly #statements = new Map<string, SqliteStatement>()

  constructor(database: SqliteConnection, names: TableNames) {
    this.#database = database
    this.#names = names
  }

  /**
   * Runs work in its own transaction.
   *
   * @param committing is called after the work, just before the commit
   */
  whole<T>(work: () => T, committing?: () => void): T {
    return this.#transacted('begin immediate', work, committing)
  }

  /**
   * Runs work that only reads, in a transaction without the write lock. `exec` takes the read lock: in libsql, a
   * prepared statement that fails on a lock stays in progress.
   */
  reading<T>(work: () => T): T {
    return this.#transacted('begin; select 1 from sqlite_master limit 1', work)
  }

  #transacted<T>(begin: string, work: () => T, committing?: () => void): T {
    const all = (): T => {
      const result = work()
      committing?.()
      return result
    }
    try {
      const database = this.#database
      const result = database.transactionSync === undefined ? this.#begun(begin, all) : database.transactionSync(all)
      for (const layout of this.#fresh) this.layouts.keep(layout)
      return result
    } finally {
      this.#fresh = []
    }
  }

  #begun<T>(begin: string, work: () => T): T {
    try {
      this.#database.exec(begin)
      const result = work()
      this.#database.exec('commit')
      return result
    } catch (error) {
      // SQLite rolls back by itself if it can do nothing else.
      if (isOpen(this.#database) !== false) this.#database.exec('rollback')
      throw error
    }
  }

  /** Runs work behind a savepoint. */
  within(work: () => void): void {
    this.#database.exec('savepoint quota')
    try {
      work()
    } catch (error) {
      this.#database.exec('rollback to savepoint quota')
      throw error
    } finally {
      this.#database.exec('release savepoint quota')
      // The layouts are stored only once the caller's transaction has committed, so they are not remembered here.
      this.#fresh = []
    }
  }

  /** The connection's current settings. */
  manner(): ConnectionManner {
    const first = (text: string): number => Number(Object.values(this.#all(text)[0] ?? {})[0])
    return { busyTimeoutMs: first('pragma busy_timeout'), synchronous: first('pragma synchronous') }
  }

  /** Changes the connection's settings. Call it outside of transactions. */
  behave({ busyTimeoutMs, synchronous }: ConnectionManner): void {
    this.#database.exec(`pragma busy_timeout = ${busyTimeoutMs}; pragma synchronous = ${synchronous}`)
  }

  /** The version of the tables. */
  format(): number {
    return Number(this.#all(`select version from ${this.#names.format}`)[0]?.version)
  }

  /** Decides and writes. Answer the operations after the commit. @returns the holds that ended */
  step(operations: readonly Operation[], now: number): readonly EndedHold[] {
    const step = this.#decided(operations, now)
    this.#write(step.changes())
    return step.ended()
  }

  /** Answers operations that only read rows. */
  read(operations: readonly Operation[], now: number): void {
    this.#decided(operations, now)
  }

  #decided(operations: readonly Operation[], now: number): Step {
    const requested = new Requested()
    for (const { footprint } of operations) requested.add(footprint)
    const step = this.#loaded(requested, now)
    step.load()
    for (const operation of operations) operation.decide(step)
    return step
  }

  /** Expired holds, earliest end first. */
  due(now: number, most: number): readonly StoredHold[] {
    return this.#records('where hold_ends_at <= ? order by hold_ends_at limit ?', now, most)
  }

  countHolds(): number {
    const [row] = this.#all(`select count(*) as open from ${this.#names.ids} where hold_ends_at is not null`)
    return Number(row?.open)
  }

  /**
   * Deletes some long-ended rows and ids, in a transaction. Only its beginning can then fail on another process's lock.
   * In libsql a prepared statement that fails on a lock stays in progress, and blocks commits.
   */
  forget(now: number, most: number): void {
    const { rows, ids } = this.#names
    const forget = (table: string, key: string, column: string): string =>
      `delete from ${table} where (${key}) in (select ${key} from ${table} where ${column} <= ? limit ?)`
    this.whole(() => {
      this.#run(forget(rows, 'key', 'ends_at'), now, most)
      this.#run(forget(ids, 'layer, owner, id', 'expires_at'), now, most)
    })
  }

  #loaded(requested: Requested, now: number): Step {
    for (let widened = 0; ; widened++) {
      const step = new Step(requested, this.#stored(requested, now), this.#deps)
      const missing = step.missing()
      if (missing === undefined || widened === MAX_WIDENED) return step
      requested.add(missing)
    }
  }

  #stored(requested: Requested, now: number): Stored {
    const { ids, settings } = this.#names
    const [marked] = this.#all(
      `select revision from ${settings} where layer = '' and subject = '' and document is not null`,
    )
    const records = new Map<string, string>()
    for (const [name, { key }] of requested.ids) {
      const [row] = this.#all(`select record, expires_at from ${ids} where ${IS_ID}`, ...key)
      if (row === undefined) continue
      const isOver = row.expires_at !== null && Number(row.expires_at) <= now
      // A record that was found expired must not live again if the clock steps back.
      if (isOver) this.#run(`delete from ${ids} where ${IS_ID}`, ...key)
      else records.set(name, String(row.record))
    }
    return {
      now,
      revision: marked === undefined ? '' : String(marked.revision),
      rows: this.#rowsOf([...requested.rows.keys()]),
      ids: records,
      holds: [...requested.owners].flatMap((owner) =>
        this.#records('where owner = ? and hold_ends_at is not null', keptText(owner)),
      ),
    }
  }

  /** Reads rows in one statement: a driver's call costs several times as much as a row. */
  #rowsOf(keys: readonly string[]): ReadonlyMap<string, StoredRow> {
    const [found] = this.#all(
      `select json_group_array(json_array(a.key, r.layout, r.cells, r.ends_at)) as found
        from json_each(?) a cross join ${this.#names.rows} r on r.key = a.value`,
      JSON.stringify(keys),
    )
    const rows = JSON.parse(String(found?.found)) as readonly (readonly [number, number, string, number | null])[]
    return new Map(
      rows.map(([place, layout, cells, endsAt]) => {
        this.#learn(layout)
        return [keys[place]!, this.layouts.row(layout, listIn(cells), endsAt)]
      }),
    )
  }

  #learn(hash: number): void {
    if (this.layouts.get(hash) !== undefined) return
    const [row] = this.#all(`select list from ${this.#names.layouts} where hash = ?`, hash)
    if (row !== undefined) this.layouts.learn(hash, String(row.list))
  }

  #write({ rows, ids }: Pick<Changes, 'rows' | 'ids'>): void {
    for (const change of rows) this.#keepLayout(change)
    const table = this.#names.rows
    const write = (text: string, changes: readonly RowChange[]): void => {
      if (changes.length > 0) this.#run(text, JSON.stringify(changes.map(valuesOf)))
    }
    write(
      `insert into ${table} (key, layout, cells, ends_at)
        select a.value ->> 0, a.value ->> 1, a.value ->> 2, a.value ->> 3 from json_each(?) a where true
        on conflict (key) do update set layout = excluded.layout, cells = excluded.cells, ends_at = excluded.ends_at`,
      rows.filter(({ isEndNew }) => isEndNew),
    )
    // SQLite updates an index whenever its column is assigned, even to the same value.
    write(
      `update ${table} set layout = a.value ->> 1, cells = a.value ->> 2
        from json_each(?) a where ${table}.key = a.value ->> 0`,
      rows.filter(({ isEndNew }) => !isEndNew),
    )
    for (const change of ids) this.#writeId(this.#names.ids, change)
  }

  /** Stores the identities of a row's cells before the first row that uses them. */
  #keepLayout({ layout }: RowChange): void {
    if (layout === undefined || this.layouts.isKept(layout)) return
    const { layouts } = this.#names
    this.#run(`insert into ${layouts} (hash, list) values (?, ?) on conflict do nothing`, layout.hash, layout.list)
    const [row] = this.#all(`select list from ${layouts} where hash = ?`, layout.hash)
    this.layouts.check(layout, row?.list)
    this.#fresh.push(layout)
  }

  #writeId(ids: string, { key, text, endsAt, holdEndsAt }: IdChange): void {
    this.#run(
      `insert into ${ids} (layer, owner, id, record, expires_at, hold_ends_at) values (?, ?, ?, ?, ?, ?)
       on conflict (layer, owner, id) do update
         set record = excluded.record, expires_at = excluded.expires_at, hold_ends_at = excluded.hold_ends_at`,
      ...key,
      text,
      endsAt,
      holdEndsAt,
    )
  }

  #records(where: string, ...values: readonly unknown[]): readonly StoredHold[] {
    const text = `select layer, owner, id, record from ${this.#names.ids} ${where}`
    return this.#all(text, ...values).map(({ layer, owner, id, record }) => ({
      key: [String(layer), String(owner), String(id)],
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

/** A list in JSON; empty for any other text. */
function listIn(text: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}

function valuesOf({ key, layout, pairs, endsAt }: RowChange): readonly unknown[] {
  return [key, layout?.hash ?? 0, `[${pairs.join()}]`, endsAt]
}

// Connections ---------------------------------------------------------------------------------------------------------

/**
 * A connection to an SQLite file whose calls answer synchronously, such as one of better-sqlite3, libsql or
 * `node:sqlite`.
 */
export interface SqliteConnection {
  prepare(text: string): SqliteStatement
  exec(text: string): unknown
  /** Runs work in its own transaction, for connections that reject `begin`, such as a Durable Object's. */
  transactionSync?<T>(work: () => T): T
  /** Whether a transaction is open, as better-sqlite3 and libsql report it. */
  readonly inTransaction?: boolean
  /** The same, as `node:sqlite` reports it. */
  readonly isTransaction?: boolean
}

export interface SqliteStatement {
  all(...values: readonly unknown[]): unknown
  run(...values: readonly unknown[]): unknown
}

/** The part of a Kysely that the counters need. It gives the connection to one user at a time. */
export interface TransactionQueue {
  connection(): { execute<T>(work: () => Promise<T>): Promise<T> }
}

/** The file and the prefix of a store; `undefined` for a store in memory, or if SQLite doesn't report the file. */
export function placeOf(database: SqliteConnection, prefix: string): string | undefined {
  if (database.transactionSync !== undefined) return undefined
  const rows = database.prepare("select file from pragma_database_list where name = 'main'").all()
  const [{ file }] = rows as [{ readonly file: string }]
  return file === '' ? undefined : `sqlite ${file} ${prefix}`
}

/** Whether an error says that another process is writing. */
export function isBusy(error: unknown): boolean {
  const { code = '' } = Object(error) as { readonly code?: unknown }
  return String(code).startsWith('SQLITE_BUSY') || /database is (?:locked|busy)/i.test(errorText(error))
}

/** Whether a transaction is open; `undefined` if the connection does not report it. */
export function isOpen({ inTransaction, isTransaction }: SqliteConnection): boolean | undefined {
  return inTransaction ?? isTransaction
}
