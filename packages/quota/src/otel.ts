export { instrumentQuota } from './metrics/instrument.ts'
export type { QuotaTelemetryOptions } from './metrics/otel-options.ts'
