/** Hears of a charge that could not be settled: `console` is one. */
export interface ErrorLogger {
  error(error: unknown): void
}

/** Settles; a failure is logged, since the work is done and its result goes out all the same. */
export async function settleOrLog(settle: () => Promise<unknown>, logger: ErrorLogger = console): Promise<void> {
  try {
    await settle()
  } catch (error) {
    logger.error(error)
  }
}
