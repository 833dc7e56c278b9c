/**
 * Leases: counters in a cluster, spread over its servers, that spend shared limits from amounts debited ahead.
 *
 * @module
 */
export type { LeaseReport } from './leases/lease-report.ts'
export { type LeasedRedisStore, leasedRedisStore } from './leases/leased-store.ts'
