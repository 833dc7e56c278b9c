import type { Logger } from './log/logger.ts'

/** Work that is to be done again and again while the gateway runs. */
export interface Chore {
  /** For the log: "<what> failed". */
  readonly what: string
  readonly everyMs: number
  run(): Promise<void>
}

/** Work that goes on until it is stopped. */
export interface Repeated {
  /** Resolves when no chore is running any more. */
  stop(): Promise<void>
}

/** Does a chore again and again, never twice at a time; a failure is logged and the next time is another one. */
export function repeat({ what, everyMs, run }: Chore, logger: Logger): Repeated {
  let underWay: Promise<void> | undefined
  const timer = setInterval(() => {
    underWay ??= run()
      .catch((error: unknown) => logger.error({ err: error }, `${what} failed`))
      .finally(() => {
        underWay = undefined
      })
  }, everyMs).unref()
  return {
    async stop() {
      clearInterval(timer)
      await underWay
    },
  }
}
