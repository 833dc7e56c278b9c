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
export function bareName(table: string): string {
  return table.slice(table.indexOf('.') + 1)
}
