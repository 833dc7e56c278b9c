import type { QuotaLogger } from '@scoregw/quota'

/** Settles. Errors are logged, because the work is done and its result must still be delivered. */
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
