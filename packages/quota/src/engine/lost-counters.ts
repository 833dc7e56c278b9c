import { QuotaWarning } from '../errors/quota-warning.ts'
import type { QuotaLogger } from '../options/logger.ts'
import type { QuotaStore } from '../store/quota-store.ts'

/**
 * Finds engines that are made for each request. Each has counters of its own in memory, which are lost with it, so it
 * never limits anything. Programs and tests that make some engines and drop them stay below this number.
 */
const MANY_LOST = 1_000

type Logger = Pick<QuotaLogger, 'warn'>

let lost = 0

/** Absent in runtimes that don't report collected objects. */
const collected =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : /* @__PURE__ */ new FinalizationRegistry<Logger>((logger) => wasLost(logger))

function wasLost(logger: Logger): void {
  lost++
  if (lost !== MANY_LOST) return
  const message = `${MANY_LOST} engines with counters in memory were dropped without close(). An engine per request never limits: make it once, outside of the handler, or close those that you replace`
  logger.warn(new QuotaWarning('engine_per_request', message))
}

/**
 * Watches an open engine's counters in memory. Whatever calls `logger` must not keep them alive.
 *
 * @returns a function that ends it
 */
export function watchCounters(store: QuotaStore, logger: Logger): () => void {
  // Counters on a server or in a file outlive their store.
  if (collected === undefined || !('snapshot' in store)) return () => undefined
  const token = {}
  collected.register(store, logger, token)
  return () => void collected.unregister(token)
}
