import type { QuotaStore } from '@scoregw/quota'
import { ConfigError } from '../start/config-error.ts'
import {
  type GatewayPolicy,
  gatewayPolicy,
  gatewayPolicyOf,
  LAYERS,
  MINUTE,
  MONTH,
  type OperationName,
  type SlotsLine,
  WINDOWS,
  type WindowLine,
} from './policy.ts'

/** What a configuration adds to the gateway's own policy. */
export interface ConfiguredLimits {
  /** Tokens of each user in a calendar month, by category. */
  readonly monthly: Readonly<Record<string, number>> | undefined
  /** Tokens of each user that come back a minute, by category, and the share of them that can be saved up. */
  readonly minutely: Readonly<Record<string, number>> | undefined
  readonly minuteBurst: number
  /** Imports from score sources that each user may run at once. */
  readonly concurrentImports: number | undefined
}

/** The zone whose months count: that of the times in refusals. */
const MONTH_ZONE = 'Asia/Shanghai'

/** The operations that wait for a source. */
const IMPORTS: readonly OperationName[] = ['source.lx', 'source.fish']

/** The gateway's policy, with what the configuration adds. */
export function configuredPolicy(limits: ConfiguredLimits): GatewayPolicy {
  const { monthly, minutely, minuteBurst, concurrentImports: slots } = limits
  if (monthly === undefined && minutely === undefined && slots === undefined) return gatewayPolicy
  const minute: WindowLine[] =
    minutely === undefined ? [] : [{ label: MINUTE, lengthMs: 60_000, burst: { share: minuteBurst }, tokens: minutely }]
  const month: WindowLine[] =
    monthly === undefined ? [] : [{ label: MONTH, every: 'month', timeZone: MONTH_ZONE, tokens: monthly }]
  const imports: SlotsLine | undefined =
    slots === undefined ? undefined : { label: 'imports', layer: 'personal', operations: IMPORTS, slots }
  return gatewayPolicyOf([...minute, ...WINDOWS, ...month], LAYERS, imports)
}

/**
 * Asks that the counters can be kept where they are to be kept.
 * @throws {ConfigError} naming the variables that cannot be used there
 */
export function checkConfigured(
  { monthly, minutely, concurrentImports }: ConfiguredLimits,
  { can = {} }: Pick<QuotaStore, 'can'>,
): void {
  const faults: string[] = []
  if (monthly !== undefined && can.calendar !== true) {
    faults.push('QUOTA_MONTHLY_LIMIT: the counters at REDIS_URL cannot keep calendar months; leave it out')
  }
  if (minutely !== undefined && can.bucket !== true) {
    faults.push('QUOTA_MINUTE_LIMIT: the counters at REDIS_URL cannot keep buckets; leave it out')
  }
  if (concurrentImports !== undefined && (can.concurrency === undefined || can.holds !== true)) {
    faults.push('QUOTA_MAX_CONCURRENT_IMPORTS: the counters at REDIS_URL cannot keep slots; leave it out')
  }
  if (faults.length > 0) throw new ConfigError(faults)
}
