import { type Kysely, sql } from 'kysely'
import { raw, type Statement } from './first.ts'
import { FORMAT, type SqlDialect, type TableNames } from './tables.ts'

/**
 * The tables of format 2: one key per row, and its cells as numbers. Counters and ids begin again; everything else
 * stays.
 */
export function secondStatements(db: Kysely<unknown>, dialect: SqlDialect, names: TableNames): readonly Statement[] {
  const { schema } = db
  const isPostgres = dialect === 'postgres'
  const key = isPostgres ? sql`text collate "C"` : sql`text`
  // Leaves space for a row's next version on its page. Updates of numbers then don't touch an index.
  const after = isPostgres ? sql`with (fillfactor = 50)` : sql`without rowid`
  const rows = schema
    .createTable(names.rows)
    .addColumn('key', key, (column) => column.primaryKey().notNull())
    .addColumn('layout', 'bigint', (column) => column.notNull())
    .addColumn('cells', isPostgres ? sql`bigint[]` : 'text', (column) => column.notNull())
    .addColumn('ends_at', 'bigint')
  const fences = schema
    .createTable(names.fences)
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('closed', 'bigint', (column) => column.notNull())
    .addColumn('keys', 'text')
    .modifyEnd(after)
  return [
    schema.dropTable(names.rows),
    (isPostgres ? rows.addColumn('limits', sql`bigint[]`) : rows).modifyEnd(after),
    schema.createIndex(`${names.rows}_by_end`).on(names.rows).column('ends_at'),
    schema
      .createTable(names.layouts)
      .addColumn('hash', 'bigint', (column) => column.primaryKey())
      .addColumn('list', 'text', (column) => column.notNull()),
    ...(isPostgres ? [fences] : []),
    raw(db, `delete from ${names.ids}`),
    raw(db, `update ${names.format} set version = ${FORMAT}`),
  ]
}
