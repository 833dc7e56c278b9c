import { type ReadWithin, refusedOptions, type SettingsReader } from '@scoregw/quota/internal'
import {
  type AsyncSettingsStore,
  newRevision,
  type SettingsChange,
  type StoredDocument,
  type StoreWriteOptions,
  type WriteReply,
} from '@scoregw/quota/store'
import { type QueryExecutorProvider, sql } from 'kysely'
import { CONNECT_TIMEOUT_MS, FirstConnection, inOrder } from '../postgres/session.ts'
import { dialectOf, postgresTransaction, sqliteTransaction, withoutPlugins } from '../schema/kysely.ts'
import { type TableNames, tableNames } from '../schema/tables.ts'
import { keptText, textOf } from '../step/stored.ts'
import { Watched } from '../watch/watched.ts'
import { type ChangeMark, changesSince, NO_CHANGE, type Place } from './changes.ts'
import { type ParsedSqlSettingsOptions, parseSqlSettingsOptions, type SqlSettingsOptions } from './options.ts'

/** Settings in a database: see {@link sqlSettings}. */
export interface SqlSettings extends AsyncSettingsStore {
  inTransaction(transaction: unknown): SettingsReader
  /** Reads other processes' changes now, and notifies watchers. */
  poll(): Promise<void>
  /** Stops notifying watchers. */
  close(): Promise<void>
}

/**
 * Settings in the database that has the counters, with a record of who changed what. Counters in the same tables know
 * the revision in force, so a change applies in every process as soon as it is answered.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function sqlSettings<Transaction extends QueryExecutorProvider>(
  options: SqlSettingsOptions<Transaction>,
): SqlSettings {
  return new Store(parseSqlSettingsOptions(options))
}

/** Where the settings of all subjects are stored. */
const ALL_SUBJECTS: Place = { layer: '', subject: '' }

interface Row {
  /** A bigint where better-sqlite3 or libsql read all integers so (`defaultSafeIntegers`). */
  readonly version: number | bigint
  readonly revision: string
  readonly document: string | null
}

/** A row, existing or not, with the newest change of all. With it, a later removal of the row is noticed. */
interface ReadOut extends Row {
  readonly seq: number | bigint | string | null
  /** Its revision; `null` if there is none. */
  readonly newest: string | null
}

/** A row, existing or not, as a transaction reads it. */
interface ReadIn extends Row {
  /** Whether it is the last committed state, rather than the transaction's first snapshot. */
  readonly latest: unknown
}

class Store implements SqlSettings {
  readonly sync = false
  readonly isMarked = true
  readonly #options: ParsedSqlSettingsOptions
  readonly #db: QueryExecutorProvider
  readonly #names: TableNames
  readonly #watched: Watched<SettingsChange>
  /** Set for a pool on PostgreSQL. */
  readonly #first: FirstConnection | undefined
  readonly #isPostgres: boolean
  /** The last change that this process reported; unknown before the first read. */
  #seen: ChangeMark | undefined
  /**
   * The newest change that this process made or read. It may be newer than the last poll, which then still notices its
   * removal.
   */
  #known = NO_CHANGE

  constructor(options: ParsedSqlSettingsOptions) {
    const { db, prefix, schema, pollMs } = options
    this.#options = options
    this.#db = withoutPlugins(db)
    this.#names = tableNames(prefix, schema)
    this.#isPostgres = dialectOf(db) === 'postgres'
    const connect = (): Promise<unknown> => db.getExecutor().provideConnection(async () => undefined)
    this.#first = this.#isPostgres ? new FirstConnection(connect, CONNECT_TIMEOUT_MS) : undefined
    this.#watched = new Watched({ pollMs, poll: () => this.#poll() })
  }

  get opening(): Promise<void> | undefined {
    return this.#first?.opening
  }

  read(): Promise<StoredDocument | undefined> {
    return this.#read(ALL_SUBJECTS)
  }

  write(document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write(ALL_SUBJECTS, document, options)
  }

  readSubject(layer: string, key: string): Promise<StoredDocument | undefined> {
    return this.#read({ layer, subject: keptText(key) })
  }

  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write({ layer, subject: keptText(key) }, document, options)
  }

  inTransaction(transaction: unknown): SettingsReader {
    return {
      read: async () => (await this.#readIn(transaction, ALL_SUBJECTS)).stored,
      readSubject: (layer, key) => this.#readIn(transaction, { layer, subject: keptText(key) }),
    }
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    return this.#watched.watch(listener)
  }

  poll(): Promise<void> {
    return this.#watched.poll()
  }

  close(): Promise<void> {
    void this.#first?.close()
    return this.#watched.close()
  }

  async #poll(): Promise<void> {
    const [seen, known] = [this.#seen ?? NO_CHANGE, this.#known]
    const isFirst = this.#seen === undefined
    const { places, newest } = await changesSince(this.#db, this.#names.changes, seen, known)
    this.#seen = newest
    if (places === 'everything' || isFirst) {
      if (this.#known === known) this.#known = NO_CHANGE
      this.#watched.notify({ kind: 'everything' })
    } else for (const place of places) this.#watched.notify(changeOf(place))
  }

  async #read({ layer, subject }: Place): Promise<StoredDocument | undefined> {
    const { settings, changes } = this.#names
    await this.opening
    const { rows } = await sql<ReadOut>`select s.version, s.revision, s.document, c.seq, c.revision as newest
      from (select 1 as one) one
        left join ${sql.table(settings)} s on s.layer = ${layer} and s.subject = ${subject}
        left join (select seq, revision from ${sql.table(changes)} order by seq desc limit 1) c on 1 = 1
    `.execute(this.#db)
    const { seq, newest, ...row } = rows[0]!
    if (newest !== null) this.#learn({ seq: Number(seq), revision: newest })
    return stored(row)
  }

  #learn(mark: ChangeMark): void {
    if (mark.seq > this.#known.seq) this.#known = mark
  }

  async #row(db: QueryExecutorProvider, { layer, subject }: Place): Promise<Row | undefined> {
    const { rows } = await sql<Row>`select version, revision, document from ${sql.table(this.#names.settings)}
      where layer = ${layer} and subject = ${subject}`.execute(db)
    return rows[0]
  }

  /** Reads behind a savepoint: on PostgreSQL a failing statement would abort the transaction. */
  #readIn(transaction: unknown, { layer, subject }: Place): Promise<ReadWithin> {
    const db = transacted(transaction, this.#isPostgres)
    const isCommitted = this.#isPostgres ? sql`current_setting('transaction_isolation') = 'read committed'` : sql`false`
    const reading = sql<ReadIn>`select s.version, s.revision, s.document, ${isCommitted} as latest
      from (select 1 as one) one left join ${sql.table(this.#names.settings)} s
        on s.layer = ${layer} and s.subject = ${subject}`
    return inOrder(Object(transaction), async () => {
      if (this.#isPostgres) await sql`savepoint quota_settings`.execute(db)
      try {
        const { rows } = await reading.execute(db)
        if (this.#isPostgres) await sql`release savepoint quota_settings`.execute(db)
        return { stored: stored(rows[0]), isLatest: Boolean(rows[0]?.latest) }
      } catch (error) {
        if (this.#isPostgres) await sql`rollback to savepoint quota_settings`.execute(db)
        throw error
      }
    })
  }

  async #write(place: Place, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    const { reply, made } = await this.#options.db
      .transaction()
      .execute((transaction) => this.#writeIn(transaction, place, document, options))
    this.#learn(made)
    if (reply.written) this.#watched.notify(changeOf(place))
    return reply
  }

  async #writeIn(
    transaction: QueryExecutorProvider,
    place: Place,
    document: unknown,
    { ifRevision, by: writer }: StoreWriteOptions,
  ): Promise<{ readonly reply: WriteReply; readonly made: ChangeMark }> {
    const db = withoutPlugins(transaction)
    const names = this.#names
    const counter = sql.table(names.change_counter)
    // A write comes first, so that writers of all processes take turns. Sequence numbers then follow the order of
    // commits, and no reader misses one.
    const { rows } = await sql<{ readonly last_seq: number | bigint | string }>`update ${counter}
      set last_seq = last_seq + 1 returning last_seq`.execute(db)
    const before = await this.#row(db, place)
    const { version, revision } = stored(before) ?? NOTHING
    if (ifRevision !== undefined && ifRevision !== revision) {
      return { reply: { written: false, version, revision }, made: NO_CHANGE }
    }
    const text = document === null ? null : JSON.stringify(document)
    const row = { version: Number(before?.version ?? 0) + 1, revision: newRevision(), document: text }
    const { layer, subject } = place
    await sql`insert into ${sql.table(names.settings)} (layer, subject, version, revision, document)
      values (${layer}, ${subject}, ${row.version}, ${row.revision}, ${text})
      on conflict (layer, subject) do update
        set version = excluded.version, revision = excluded.revision, document = excluded.document`.execute(db)
    const made = { seq: Number(rows[0]?.last_seq), revision: row.revision }
    const [by, at] = [writer ?? null, this.#options.clock.now()]
    await sql`insert into ${sql.table(names.changes)}
      (seq, layer, subject, revision, changed_by, changed_at, ${sql.ref('before')}, ${sql.ref('after')})
      values (${made.seq}, ${layer}, ${subject}, ${row.revision}, ${by}, ${at}, ${before?.document ?? null}, ${text})
    `.execute(db)
    await this.#options.onWrite?.(transaction, {
      subject: layer === '' ? undefined : { layer, key: textOf(subject) },
      by,
      at,
      before: stored(before)?.document ?? null,
      after: document,
    })
    const now = text === null ? NOTHING : { version: row.version, revision: row.revision }
    return { reply: { written: true, ...now }, made }
  }
}

/** @throws {QuotaError} `invalid_options` if the value isn't a transaction */
function transacted(transaction: unknown, isPostgres: boolean): QueryExecutorProvider {
  const db = isPostgres ? postgresTransaction(transaction) : sqliteTransaction(transaction)
  if (db !== undefined) return db
  throw refusedOptions('inTransaction()', [{ path: '', message: 'expected a transaction' }])
}

const NOTHING = { version: 0, revision: '' } as const

function stored(row: Row | undefined): StoredDocument | undefined {
  if (row === undefined || row.document === null) return undefined
  return { document: parsed(row.document), version: Number(row.version), revision: row.revision }
}

/** Text that isn't JSON is a document too, but the engine ignores it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function changeOf({ layer, subject }: Place): SettingsChange {
  return layer === '' ? { kind: 'settings' } : { kind: 'subject', layer, key: textOf(subject) }
}
