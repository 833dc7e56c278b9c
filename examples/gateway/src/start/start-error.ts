/** Something outside of the process keeps it from starting. The message is one line: which variable, what it says, and the fix. */
export class StartError extends Error {
  override readonly name: string = 'StartError'

  /**
   * @param said the variable and what of its value may be shown: never a credential
   * @param fault the cause, and how to correct it
   */
  constructor(said: string, fault: string, cause?: unknown) {
    super(`${said}: ${fault}`, { cause })
  }
}

/** The code of an error, and of what it was caused by: `EADDRINUSE`, `SQLITE_NOTADB`, `28P01`. */
export function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { code } = error as NodeJS.ErrnoException
  const inner = error instanceof AggregateError ? error.errors : [error.cause]
  return [...(typeof code === 'string' ? [code] : []), ...inner.flatMap(codesOf)]
}

/** The configuration is not usable; the message names every fault, never a value, since values may be secrets. */
export class ConfigError extends Error {
  override readonly name: string = 'ConfigError'

  constructor(faults: readonly string[], options?: ErrorOptions) {
    super(`The configuration has faults:\n  ${faults.join('\n  ')}`, options)
  }
}
