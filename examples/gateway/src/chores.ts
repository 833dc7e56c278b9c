import type { Logger } from './log/logger.ts'

/** Recurring work of the gateway. */
export interface Chore {
  /** For the log: "<what> failed". */
  readonly what: string
  readonly everyMs: number
  run(): Promise<void>
}

/** Recurring work that has started. */
export interface Repeated {
  /** Resolves when no chore is running. */
  stop(): Promise<void>
}

/** Runs a chore at intervals, never twice at the same time. Failures are logged, and the next run tries again. */
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
