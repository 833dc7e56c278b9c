import type { SyncStore } from '../store/quota-store.ts'
import type { SyncSettingsStore } from '../store/settings-store.ts'
import { QuotaEngine, SyncQuotaEngine } from './engine.ts'
import { EngineParts } from './engine-parts.ts'
import { type ParsedOptions, parseQuotaOptions, type QuotaOptions } from './options.ts'
import type { Quota, SyncQuota } from './quota.ts'

/** Options of an engine whose stores answer at once. */
export interface SyncQuotaOptions<Operation extends string = string> extends QuotaOptions<Operation> {
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
export function createQuota<Operation extends string>(options: SyncQuotaOptions<Operation>): SyncQuota<Operation>
export function createQuota<Operation extends string>(options: QuotaOptions<Operation>): Quota<Operation>
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
export function isSyncQuota<Operation extends string>(quota: Quota<Operation>): quota is SyncQuota<Operation> {
  return quota.sync
}
