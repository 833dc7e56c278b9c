import type { QuotaLogger } from '@scoregw/quota'

/** Settles; a failure is logged, since the work is done and its result goes out all the same. */
export async function settleOrLog(
  settle: () => Promise<unknown>,
  logger: QuotaLogger | false = console,
): Promise<void> {
  try {
    await settle()
  } catch (error) {
    if (logger !== false) logger.error(error)
  }
}
