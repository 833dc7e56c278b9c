import * as v from 'valibot'
import { type Check, having, withDefault } from './checks.ts'
import { calling } from './promise.ts'

/** Receives messages for operators. You can pass `console`, or a pino or winston logger. */
export interface QuotaLogger {
  /** A misconfiguration: text, or an error with a code. */
  warn(message: unknown): void
  /** A failure: text, or an error. */
  error(message: unknown): void
}

const SILENT: QuotaLogger = { warn: () => undefined, error: () => undefined }

/** Passes messages on. A logger that throws or rejects has nowhere to report it, and must not fail a request. */
function safe(logger: QuotaLogger): QuotaLogger {
  return {
    warn: (message) =>
      calling(
        () => logger.warn(message),
        () => undefined,
      ),
    error: (message) =>
      calling(
        () => logger.error(message),
        () => undefined,
      ),
  }
}

/** The option `logger`. The default is the console; `false`: no logs. */
export function aLogger(): Check<QuotaLogger> {
  const logger = v.pipe(having<QuotaLogger>(['warn', 'error'], 'a logger or false'), v.transform(safe))
  const silent = v.pipe(
    v.literal(false),
    v.transform(() => SILENT),
  )
  return withDefault<QuotaLogger>(
    v.lazy((value) => (value === false ? silent : logger)),
    safe(console),
  )
}
