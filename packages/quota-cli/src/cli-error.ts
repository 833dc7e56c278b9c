/** Exit codes. */
export const EXIT = {
  /** Done, and nothing is wrong. */
  ok: 0,
  /** Done, and problems were found. */
  found: 1,
  /** Not started: invalid arguments, or files that cannot be read. */
  usage: 2,
  /** The server does not answer, or is not the expected one. */
  server: 3,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The details of a {@link CliError}. */
export interface CliErrorDetails {
  readonly exitCode: ExitCode
  /** How to fix it. */
  readonly remedy?: string | undefined
  readonly cause?: unknown
}

/** An expected failure: one line with what went wrong, and one with the fix. */
export class CliError extends Error {
  readonly exitCode: ExitCode
  readonly remedy: string | undefined

  constructor(message: string, { exitCode, remedy, cause }: CliErrorDetails) {
    super(message, { cause })
    this.exitCode = exitCode
    this.remedy = remedy
  }
}

/** The command line or a file is wrong. @param remedy how to fix it */
export function usageError(message: string, remedy?: string, cause?: unknown): CliError {
  return new CliError(message, { exitCode: EXIT.usage, remedy, cause })
}
