import type { Registry, RegistryContentType } from 'prom-client'
import * as z from 'zod'
import type { Quota } from '../engine/quota.ts'

/** What {@link registerQuotaMetrics} takes. */
export interface QuotaMetricsOptions {
  /** The engine whose decisions are counted. */
  readonly quota: Pick<Quota, 'on' | 'inForce' | 'policy'>
  /** Where the metrics are registered, for example prom-client's own `register`. */
  readonly registry: Registry<RegistryContentType>
  /**
   * The beginning of every metric's name. Engines that share a registry need one each.
   * @default 'scoregw_quota_'
   */
  readonly prefix?: string | undefined
}

/** The same with the default filled in. */
export interface ParsedOptions extends QuotaMetricsOptions {
  readonly prefix: string
}

/** Duck-typed, as a program may hold two copies of either package. */
function having<T>(methods: readonly string[], what: string): z.ZodCustom<T, T> {
  const has = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function')
  return z.custom<T>(has, { error: `expected ${what}` })
}

export const metricsOptions: z.ZodType<ParsedOptions> = z.strictObject({
  quota: having<QuotaMetricsOptions['quota']>(['on', 'inForce'], 'an engine: what createQuota() gives'),
  registry: having<QuotaMetricsOptions['registry']>(
    ['registerMetric', 'getSingleMetric', 'removeSingleMetric'],
    "prom-client's register, or a new Registry()",
  ),
  prefix: z
    .string()
    .regex(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/, 'expected the beginning of a metric name: letters, digits, _ and :')
    .default('scoregw_quota_'),
})
