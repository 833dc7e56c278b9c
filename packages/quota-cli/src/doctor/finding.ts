/** A result about a server. */
export interface ServerFinding {
  readonly level: 'ok' | 'warning' | 'fault'
  /** The subject of the check, for example `eviction`. */
  readonly about: string
  readonly message: string
  /** How to fix it. */
  readonly mend?: string
}

export function ok(about: string, message: string): ServerFinding {
  return { level: 'ok', about, message }
}

export function warning(about: string, message: string, mend: string): ServerFinding {
  return { level: 'warning', about, message, mend }
}

export function fault(about: string, message: string, mend: string): ServerFinding {
  return { level: 'fault', about, message, mend }
}
