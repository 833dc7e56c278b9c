import type { Counting, OneUnit } from '../policy/units.ts'
import type { SyncStore } from '../store/quota-store.ts'
import type { SyncSettingsStore } from '../store/settings-store.ts'
import { QuotaEngine, SyncQuotaEngine } from './engine.ts'
import { EngineParts } from './engine-parts.ts'
import { type ParsedOptions, parseQuotaOptions, type QuotaOptions } from './options.ts'
import type { Quota, SyncQuota } from './quota.ts'

/** Options of an engine whose stores answer at once. */
export interface SyncQuotaOptions<Operation extends string = string, C extends Counting = Counting>
  extends QuotaOptions<Operation, C> {
  readonly store?: SyncStore | undefined
  readonly settingsStore?: SyncSettingsStore | undefined
}

/**
 * Makes a quota engine. Where both stores answer at once, as those in memory do, it has the `...Sync` calls as well.
 *
 * @throws {QuotaError} `invalid_options`, `invalid_policy` naming every fault; `store_mismatch`
 * @example
 * const quota = createQuota({ policy: defaultPolicy() })
 * const decision = await quota.consume({ subject: 'u42', operation: 'write' })
 * if (!decision.allowed) console.log(`wait ${decision.retryAfterSeconds} s`)
 */
export function createQuota<Operation extends string, C extends Counting = OneUnit>(
  options: SyncQuotaOptions<Operation, C>,
): SyncQuota<Operation, C>
export function createQuota<Operation extends string, C extends Counting = OneUnit>(
  options: QuotaOptions<Operation, C>,
): Quota<Operation, C>
export function createQuota(options: QuotaOptions): Quota {
  return quotaOf(parseQuotaOptions(options))
}

/** The engine of options that are checked. */
export function quotaOf(options: ParsedOptions): Quota {
  const parts = new EngineParts(options)
  const { store, settingsStore } = parts
  return store.sync && settingsStore.sync ? new SyncQuotaEngine(parts) : new QuotaEngine(parts)
}

/** Whether an engine has the `...Sync` calls. */
export function isSyncQuota<Operation extends string, C extends Counting>(
  quota: Quota<Operation, C>,
): quota is SyncQuota<Operation, C> {
  return quota.sync
}
