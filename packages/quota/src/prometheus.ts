export type { QuotaMetricsOptions } from './metrics/options.ts'
export { registerQuotaMetrics } from './metrics/prometheus.ts'
