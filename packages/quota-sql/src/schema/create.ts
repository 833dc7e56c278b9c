import { type CompiledQuery, type CreateTableBuilder, type Kysely, sql } from 'kysely'
import { bareName, COLUMN_CELLS, cellColumns, FORMAT, type SqlDialect, type TableNames } from './tables.ts'

/** A statement that can be executed, or shown as SQL. */
export interface Statement {
  execute(): Promise<unknown>
  compile(): CompiledQuery
}

/** Creates the tables. */
export function tableStatements(db: Kysely<unknown>, dialect: SqlDialect, names: TableNames): readonly Statement[] {
  return [
    db.schema.createTable(names.format).addColumn('version', 'integer', (column) => column.notNull()),
    ...counterTables(db, dialect, names),
    ...settingsTables(db, names),
    ...adaptiveTables(db, names),
    raw(db, `insert into ${names.format} (version) values (${FORMAT})`),
    raw(db, `insert into ${names.change_counter} (id, last_seq) values (1, 0)`),
  ]
}

function counterTables(db: Kysely<unknown>, dialect: SqlDialect, names: TableNames): Statement[] {
  const { schema } = db
  const isPostgres = dialect === 'postgres'
  // Keys are compared byte by byte, independent of the database's language.
  const key = isPostgres ? sql`text collate "C"` : sql`text`
  // Leaves space for a row's next version on its page. Updates of numbers then don't touch an index.
  const after = isPostgres ? sql`with (fillfactor = 50)` : sql`without rowid`
  let rows: CreateTableBuilder<string, string> = schema
    .createTable(names.rows)
    .addColumn('key', key, (column) => column.primaryKey().notNull())
    .addColumn('layout', 'bigint', (column) => column.notNull())
  if (isPostgres) {
    // PostgreSQL reads and writes columns in a third of the time of an array's elements.
    for (const name of cellColumns(COLUMN_CELLS)) rows = rows.addColumn(name, 'bigint')
    rows = rows.addColumn('more', sql`bigint[]`)
  } else rows = rows.addColumn('cells', 'text', (column) => column.notNull())
  return [
    rows.addColumn('ends_at', 'bigint').modifyEnd(after),
    schema
      .createIndex(`${bareName(names.rows)}_by_end`)
      .on(names.rows)
      .column('ends_at'),
    schema
      .createTable(names.layouts)
      .addColumn('hash', 'bigint', (column) => column.primaryKey())
      .addColumn('list', 'text', (column) => column.notNull()),
    schema
      .createTable(names.ids)
      .addColumn('layer', key, (column) => column.notNull())
      .addColumn('owner', key, (column) => column.notNull())
      .addColumn('id', key, (column) => column.notNull())
      .addColumn('record', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint')
      .addColumn('hold_ends_at', 'bigint')
      .addPrimaryKeyConstraint(`${bareName(names.ids)}_key`, ['layer', 'owner', 'id'])
      .modifyEnd(after),
    schema
      .createIndex(`${bareName(names.ids)}_by_end`)
      .on(names.ids)
      .column('expires_at'),
    partialIndex(db, names.ids, 'hold_ends_at', 'by_hold_end'),
    partialIndex(db, names.ids, 'owner', 'by_owner'),
  ]
}

function settingsTables({ schema }: Kysely<unknown>, names: TableNames): Statement[] {
  return [
    schema
      .createTable(names.settings)
      .addColumn('layer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('revision', 'text', (column) => column.notNull())
      .addColumn('document', 'text')
      .addPrimaryKeyConstraint(`${bareName(names.settings)}_key`, ['layer', 'subject']),
    schema
      .createTable(names.changes)
      .addColumn('seq', 'bigint', (column) => column.primaryKey())
      .addColumn('layer', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('revision', 'text', (column) => column.notNull())
      .addColumn('changed_by', 'text')
      .addColumn('changed_at', 'bigint', (column) => column.notNull())
      .addColumn('before', 'text')
      .addColumn('after', 'text'),
    schema
      .createTable(names.change_counter)
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('last_seq', 'bigint', (column) => column.notNull()),
  ]
}

function adaptiveTables({ schema }: Kysely<unknown>, names: TableNames): Statement[] {
  const counts = ['calls', 'code_zero', 'client_error', 'server_error', 'business_fail', 'refused', 'quota_unavailable']
  let outcomes = schema.createTable(names.outcomes).addColumn('minute', 'integer', (column) => column.primaryKey())
  for (const name of counts) outcomes = outcomes.addColumn(name, 'bigint', (column) => column.notNull())
  return [
    schema
      .createTable(names.factor)
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('version', 'integer', (column) => column.notNull())
      .addColumn('minute', 'integer', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull()),
    outcomes,
  ]
}

/** Only open holds are in the index. Most ids aren't. */
function partialIndex(db: Kysely<unknown>, table: string, column: string, name: string): Statement {
  return raw(db, `create index ${bareName(table)}_${name} on ${table} (${column}) where hold_ends_at is not null`)
}

function raw(db: Kysely<unknown>, text: string): Statement {
  const statement = sql.raw(text)
  return { execute: () => statement.execute(db), compile: () => statement.compile(db) }
}
