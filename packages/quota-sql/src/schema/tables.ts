/** The version of the tables. A process works with this one alone: see the guide on upgrades. */
export const FORMAT = 2

/** The two kinds of databases. */
export type SqlDialect = 'postgres' | 'sqlite'

/** The tables of this package, by what their names have behind the prefix. Their columns are in the migrations. */
const NAMES = [
  'format',
  /**
   * A row for each layer, category and subject: its key, `layer/category/subject`, the subject empty in shared layers; what its
   * cells count, the hash of a list in `layouts`; `startedAt` and `used` of each cell in turn; and when it may be deleted, `null`:
   * not before it was written again. On PostgreSQL the limits that the statement which made the row compared with, too.
   */
  'rows',
  /** Lists of limits by their hash, one identity a line. */
  'layouts',
  /**
   * PostgreSQL: the last transaction of each line of transactions, in case its answer is lost: its number, its instant, the
   * number up to which those that have not been committed never are, and the rows that it added to, in JSON, `null`: all.
   */
  'fences',
  /** The records of ids; those of open holds have a `hold_ends_at`. */
  'ids',
  /** Settings of all subjects (layer and subject empty) and of subjects. A removed one is null, and its version goes on. */
  'settings',
  /** Changes of settings, in the order of the commits. */
  'changes',
  /** One row, whose lock makes writers of settings take turns. */
  'change_counter',
  'factor',
  'outcomes',
] as const

/** The names of the tables: `prefix` and an underscore before each. */
export type TableNames = Readonly<Record<(typeof NAMES)[number], string>>

export function tableNames(prefix: string): TableNames {
  return Object.fromEntries(NAMES.map((name) => [name, `${prefix}_${name}`])) as TableNames
}
