/** `fault`: not a valid policy. `warning`: almost certainly a mistake. `note`: worth a look. */
export type Level = 'fault' | 'warning' | 'note'

/** One thing about a policy. */
export interface Finding {
  readonly level: Level
  /** Stable, for programs. */
  readonly code: string
  /** Dotted path from the document's root. */
  readonly path: string
  readonly message: string
  /** What to do about it. */
  readonly mend: string
}
