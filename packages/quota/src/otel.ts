export { instrumentQuota, type QuotaTelemetryOptions } from './metrics/otel.ts'
