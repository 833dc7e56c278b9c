import { metrics } from '@opentelemetry/api'
import { countInMeter } from './otel-metrics.ts'
import { parseTelemetryOptions, type QuotaTelemetryOptions } from './otel-options.ts'
import { tellSpans } from './otel-spans.ts'

/**
 * Tells what an engine decides by OpenTelemetry: the metrics that `registerQuotaMetrics()` has, and attributes of the span
 * that is active. Call it after the SDK has started.
 *
 * @returns a function that ends it; call it with `quota.close()`
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * const stop = instrumentQuota({ quota })
 */
export function instrumentQuota(options: QuotaTelemetryOptions): () => void {
  const { quota, meter = metrics.getMeter('@scoregw/quota'), prefix, spans, subjects } = parseTelemetryOptions(options)
  const stops = [countInMeter(quota, meter, prefix), ...(spans ? [tellSpans(quota, subjects)] : [])]
  return () => {
    for (const stop of stops) stop()
  }
}
