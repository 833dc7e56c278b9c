/** The version of what is stored. A process works with this one alone: see the guide on upgrades. */
export const FORMAT = 2

/** The two kinds of databases. */
export type SqlDialect = 'postgres' | 'sqlite'

/** The tables of this package, by what their names have behind the prefix. */
interface QuotaTables {
  readonly format: { readonly version: number }
  /** One row for each layer, category and subject. */
  readonly rows: {
    /** `layer/category/subject`, the subject empty in shared layers. */
    readonly key: string
    /** What the cells count: the hash of a list in {@link layouts}. */
    readonly layout: number
    /** `startedAt` and `used` of each cell in turn: an array on PostgreSQL, one in JSON on SQLite. */
    readonly cells: string
    readonly ends_at: number | null
    /** PostgreSQL: the limits that the statement which made the row compared with; of no use afterwards. */
    readonly limits: string | null
  }
  /** Lists of limits by their hash, one identity a line. */
  readonly layouts: { readonly hash: number; readonly list: string }
  /** PostgreSQL: the last statement of each line of statements, for whom its answer is lost. */
  readonly fences: {
    readonly id: string
    /** Its number, and its instant. */
    readonly seq: number
    readonly at: number
    /** Statements up to this number that have not been made are never made. */
    readonly closed: number
    /** The rows that it added to, in JSON; null: all. */
    readonly keys: string | null
  }
  /** What is remembered of ids; those of open holds have a `hold_ends_at`. */
  readonly ids: {
    readonly category: string
    readonly owner: string
    readonly id: string
    readonly record: string
    readonly expires_at: number | null
    readonly hold_ends_at: number | null
  }
  /** Settings of everybody (layer and subject empty) and of subjects. A removed one is null, and its version goes on. */
  readonly settings: {
    readonly layer: string
    readonly subject: string
    readonly version: number
    readonly revision: string
    readonly document: string | null
  }
  /** What was changed, in the order of the commits. */
  readonly changes: {
    readonly seq: number
    readonly layer: string
    readonly subject: string
    readonly revision: string
    readonly changed_by: string | null
    readonly changed_at: number
    readonly before: string | null
    readonly after: string | null
  }
  /** One row, whose lock makes writers of settings take turns. */
  readonly change_counter: { readonly id: number; readonly last_seq: number }
  readonly factor: { readonly id: number; readonly version: number; readonly minute: number; readonly state: string }
  readonly outcomes: {
    readonly minute: number
    readonly calls: number
    readonly code_zero: number
    readonly client_error: number
    readonly server_error: number
    readonly business_fail: number
    readonly refused: number
    readonly quota_unavailable: number
  }
}

/** The names of the tables: `prefix` and an underscore before each. */
export type TableNames = { readonly [K in keyof QuotaTables]: string }

const NAMES: readonly (keyof QuotaTables)[] = [
  'format',
  'rows',
  'layouts',
  'fences',
  'ids',
  'settings',
  'changes',
  'change_counter',
  'factor',
  'outcomes',
]

export function tableNames(prefix: string): TableNames {
  return Object.fromEntries(NAMES.map((name) => [name, `${prefix}_${name}`])) as Record<keyof QuotaTables, string>
}
