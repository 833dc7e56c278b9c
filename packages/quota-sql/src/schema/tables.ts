import { otherVersion } from '@scoregw/quota/internal'

/** The version of the tables. A process works with no other: see `docs/reference/versions.md`. */
export const FORMAT = 2

/** On PostgreSQL: how many cells of a row have columns. Further ones are in an array. */
export const COLUMN_CELLS = 8

/** On PostgreSQL: the columns of a row's first cells, start and use of each. */
export function cellColumns(cells: number): readonly string[] {
  return Array.from({ length: Math.min(cells, COLUMN_CELLS) }, (_, c) => [`s${c + 1}`, `u${c + 1}`]).flat()
}

/** @throws {QuotaError} `other_version` */
export function checkFormat(version: number): void {
  if (version !== FORMAT) throw otherVersion('the set of tables', version, FORMAT)
}

/** The two kinds of databases. */
export type SqlDialect = 'postgres' | 'sqlite'

/** The tables of this package, by their names without the prefix. The migrations define their columns. */
const NAMES = [
  'format',
  /**
   * One row per layer and subject. `key` is `layer:subject`, without a subject in shared layers.
   * `layout` is the hash of its cells' list in `layouts`. `cells` has `startedAt` and `used` of each cell; on PostgreSQL
   * these are columns: see {@link cellColumns}. `ends_at` is when the row may be deleted, `null` for not before the next
   * write.
   */
  'rows',
  /** Lists of limits by their hash, one identity per line. */
  'layouts',
  /** The records of ids, by the layer of their owner; those of open holds have a `hold_ends_at`. */
  'ids',
  /**
   * Settings of all subjects (layer and subject empty), and of single subjects. A removed document is null, and keeps
   * its version.
   */
  'settings',
  /** Changes of settings, in the order of the commits. */
  'changes',
  /** One row. Its lock serializes writers of settings. */
  'change_counter',
  'factor',
  'outcomes',
] as const

/** The names of the tables: the schema and a dot if given, the prefix, an underscore, and the name. */
export type TableNames = Readonly<Record<(typeof NAMES)[number], string>>

/** @param schema of PostgreSQL; the names then begin with it and a dot */
export function tableNames(prefix: string, schema?: string): TableNames {
  const begin = schema === undefined ? prefix : `${schema}.${prefix}`
  return Object.fromEntries(NAMES.map((name) => [name, `${begin}_${name}`])) as TableNames
}

/** The name of a table without its schema, of which names of indexes are made. */
function bareName(table: string): string {
  return table.slice(table.indexOf('.') + 1)
}

// How they are created ------------------------------------------------------------------------------------------------

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
