import { styleText } from 'node:util'

/** The output of a run, and the abilities of its terminal. */
export interface Io {
  /** Writes results: text, or one JSON document. */
  out(text: string): void
  /** Writes errors, notes and progress. */
  err(text: string): void
  /** Whether {@link out} is a terminal. */
  readonly isTerminal: boolean
  /** Whether {@link err} is a terminal, where a line can be overwritten. */
  readonly showsProgress: boolean
  readonly hasColor: boolean
  /** Columns of the terminal. */
  readonly width: number
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborts when the run should end. */
  readonly signal: AbortSignal
}

/** The width used if the terminal does not report one. */
const DEFAULT_WIDTH = 100

export function processIo(signal: AbortSignal): Io {
  const { stdout, stderr, env } = process
  const isTerminal = stdout.isTTY === true
  const wantsColor = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0'
  return {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    isTerminal,
    showsProgress: stderr.isTTY === true,
    hasColor: wantsColor || (isTerminal && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'),
    width: Math.max(40, stdout.columns ?? DEFAULT_WIDTH),
    env,
    signal,
  }
}

export type Paint = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Text in a color, if colors are on. */
export function painted({ hasColor }: Pick<Io, 'hasColor'>, paint: Paint, text: string): string {
  return hasColor ? styleText(paint, text) : text
}
