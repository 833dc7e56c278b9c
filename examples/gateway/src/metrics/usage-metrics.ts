import { Counter, type Registry } from 'prom-client'

/** Asked when the metrics are read. */
export function registerUsageMetrics(usage: { readonly dropped: number }, registry: Registry): void {
  const counter = new Counter({
    name: 'score_gateway_usage_records_dropped_total',
    help: 'Metered requests that were not written down, since too many were waiting for the database',
    registers: [],
    collect() {
      this.reset()
      this.inc(usage.dropped)
    },
  })
  registry.registerMetric(counter)
}
