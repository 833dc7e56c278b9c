/**
 * Thrown if something outside the process prevents its start. The message is one line: the variable, the cause, and the
 * fix.
 */
export class StartError extends Error {
  override readonly name: string = 'StartError'

  /**
   * @param said the variable, and as much of its value as may be shown: never a credential
   * @param fault the cause, and how to fix it
   */
  constructor(said: string, fault: string, cause?: unknown) {
    super(`${said}: ${fault}`, { cause })
  }
}

/** Returns the codes of an error and its causes: `EADDRINUSE`, `SQLITE_NOTADB`, `28P01`. */
export function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { code } = error as NodeJS.ErrnoException
  const inner = error instanceof AggregateError ? error.errors : [error.cause]
  return [...(typeof code === 'string' ? [code] : []), ...inner.flatMap(codesOf)]
}

/** Thrown for an invalid configuration. The message names every fault but no values, because they may be secrets. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError'

  constructor(faults: readonly string[], options?: ErrorOptions) {
    super(`The configuration has faults:\n  ${faults.join('\n  ')}`, options)
  }
}
