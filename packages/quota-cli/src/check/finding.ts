/** `fault`: no policy. `warning`: surely not what was meant. `note`: worth a look. */
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
