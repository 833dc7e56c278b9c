import { refusedOptions } from '../options/options-parser.ts'
import { METRIC_NAMES } from './definitions.ts'
import { follow } from './follow.ts'
import { makeMetrics } from './metrics.ts'
import { parseMetricsOptions, type QuotaMetricsOptions } from './options.ts'

/**
 * Counts what an engine decides in metrics of prom-client.
 *
 * @returns a function that ends the counting and takes the metrics out of the registry; call it with `quota.close()`
 * @throws {QuotaError} `invalid_options` naming every fault; also for a registry that has metrics of these names
 * @example
 * const unregister = registerQuotaMetrics({ quota, registry: register })
 */
export function registerQuotaMetrics(options: QuotaMetricsOptions): () => void {
  const parsed = parseMetricsOptions(options)
  const { quota, registry, prefix } = parsed
  const names = Object.values(METRIC_NAMES).map((name) => prefix + name)
  const taken = names.filter((name) => registry.getSingleMetric(name) !== undefined)
  if (taken.length > 0) {
    const message = `has ${taken.join(', ')}; unregister these first, or choose another prefix`
    throw refusedOptions('registerQuotaMetrics()', [{ path: 'registry', message }])
  }
  const metrics = makeMetrics(parsed)
  const stop = follow(quota, metrics.followed)
  return () => {
    stop()
    for (const key of Object.keys(METRIC_NAMES) as (keyof typeof METRIC_NAMES)[]) {
      const name = prefix + METRIC_NAMES[key]
      // A registry that was cleared may have another metric under the name by now.
      if (registry.getSingleMetric(name) === metrics.all[key]) registry.removeSingleMetric(name)
    }
  }
}
