/** `fault`: the policy is invalid. `warning`: almost certainly a mistake. `note`: check whether you meant it. */
export type Level = 'fault' | 'warning' | 'note'

/** A fault, warning or note about a policy. */
export interface Finding {
  readonly level: Level
  /** A stable code for programs. */
  readonly code: string
  /** Dotted path from the document's root. */
  readonly path: string
  readonly message: string
  /** How to fix it. */
  readonly mend: string
}

export function warning(code: string, path: string, message: string, mend: string): Finding {
  return { level: 'warning', code, path, message, mend }
}

export function note(code: string, path: string, message: string, mend: string): Finding {
  return { level: 'note', code, path, message, mend }
}
