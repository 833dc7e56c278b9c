export type { QuotaMetricsOptions } from './metrics/definitions.ts'
export { registerQuotaMetrics } from './metrics/prometheus.ts'
