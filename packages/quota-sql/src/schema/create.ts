import { bareName, COLUMN_CELLS, cellColumns, FORMAT, type SqlDialect, type TableNames, tableNames } from './tables.ts'

/** The statements that create the tables. */
export function tableStatements(dialect: SqlDialect, names: TableNames): readonly string[] {
  return [
    `create table ${names.format} (version integer not null)`,
    ...counterTables(dialect, names),
    ...settingsTables(names),
    `create table ${names.factor} (
      id integer primary key, version integer not null, minute integer not null, state text not null)`,
    `create table ${names.outcomes} (
      minute integer primary key, calls bigint not null, code_zero bigint not null, client_error bigint not null,
      server_error bigint not null, business_fail bigint not null, refused bigint not null,
      quota_unavailable bigint not null)`,
    `insert into ${names.format} (version) values (${FORMAT})`,
    `insert into ${names.change_counter} (id, last_seq) values (1, 0)`,
  ]
}

/** The tables of SQLite under the usual prefix, for connections without kysely. */
export function sqliteTables(): string {
  return textOf(tableStatements('sqlite', tableNames('quota')))
}

export function textOf(statements: readonly string[]): string {
  return statements.map((statement) => `${statement};\n`).join('')
}

function counterTables(dialect: SqlDialect, { rows, layouts, ids }: TableNames): readonly string[] {
  const isPostgres = dialect === 'postgres'
  // Keys are compared byte by byte, independent of the database's language.
  const key = isPostgres ? 'text collate "C"' : 'text'
  // Leaves space for a row's next version on its page. Updates of numbers then don't touch an index.
  const after = isPostgres ? 'with (fillfactor = 50)' : 'without rowid'
  // PostgreSQL reads and writes columns in a third of the time of an array's elements.
  const columns = cellColumns(COLUMN_CELLS).map((name) => `${name} bigint`)
  const cells = isPostgres ? `${columns.join(', ')}, more bigint[]` : 'cells text not null'
  const index = (table: string, column: string, name: string, where = ''): string =>
    `create index ${bareName(table)}_${name} on ${table} (${column})${where}`
  // Most ids are of no open hold.
  const isOpen = ' where hold_ends_at is not null'
  return [
    `create table ${rows} (key ${key} primary key not null, layout bigint not null, ${cells}, ends_at bigint) ${after}`,
    index(rows, 'ends_at', 'by_end'),
    `create table ${layouts} (hash bigint primary key, list text not null)`,
    `create table ${ids} (
      layer ${key} not null, owner ${key} not null, id ${key} not null, record text not null, expires_at bigint,
      hold_ends_at bigint, primary key (layer, owner, id)) ${after}`,
    index(ids, 'expires_at', 'by_end'),
    index(ids, 'hold_ends_at', 'by_hold_end', isOpen),
    index(ids, 'owner', 'by_owner', isOpen),
  ]
}

function settingsTables({ settings, changes, change_counter: counter }: TableNames): readonly string[] {
  return [
    `create table ${settings} (
      layer text not null, subject text not null, version integer not null, revision text not null, document text,
      primary key (layer, subject))`,
    `create table ${changes} (
      seq bigint primary key, layer text not null, subject text not null, revision text not null, changed_by text,
      changed_at bigint not null, before text, after text)`,
    `create table ${counter} (id integer primary key, last_seq bigint not null)`,
  ]
}
