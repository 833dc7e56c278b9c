/** What a run can end with. */
export const EXIT = {
  /** Done, and nothing is wrong. */
  ok: 0,
  /** Done, and problems were found. */
  found: 1,
  /** Not begun: arguments, or files that cannot be read. */
  usage: 2,
  /** The server does not answer, or is not the expected one. */
  server: 3,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What accompanies a {@link CliError}. */
export interface CliErrorDetails {
  readonly exitCode: ExitCode
  /** What to do about it. */
  readonly mend?: string | undefined
  readonly cause?: unknown
}

/** A failure that is no bug of this program: one line with what went wrong, and one with what to do about it. */
export class CliError extends Error {
  readonly exitCode: ExitCode
  readonly mend: string | undefined

  constructor(message: string, { exitCode, mend, cause }: CliErrorDetails) {
    super(message, { cause })
    this.exitCode = exitCode
    this.mend = mend
  }
}
