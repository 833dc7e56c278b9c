import { otherVersion } from '@scoregw/quota/store'

/** The version of the tables. A process works with no other: see `docs/reference/versions.md`. */
export const FORMAT = 1

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
   * `layout` is the hash of its cells' list in `layouts`. `cells` has `startedAt` and `used` of each cell. `ends_at` is
   * when the row may be deleted, `null` for not before the next write. On PostgreSQL, also the limits that the
   * inserting statement compared with.
   */
  'rows',
  /** Lists of limits by their hash, one identity per line. */
  'layouts',
  /**
   * PostgreSQL: one row per sequence of transactions, in case an answer is lost. It has the last transaction's number
   * and instant, and the number up to which uncommitted transactions can no longer commit. It also has the rows that it
   * added to, in JSON, `null` for all.
   */
  'fences',
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

/** The names of the tables: the prefix, an underscore, and the name. */
export type TableNames = Readonly<Record<(typeof NAMES)[number], string>>

export function tableNames(prefix: string): TableNames {
  return Object.fromEntries(NAMES.map((name) => [name, `${prefix}_${name}`])) as TableNames
}
