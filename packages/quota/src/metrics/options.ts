import type { Registry, RegistryContentType } from 'prom-client'
import type { Quota } from '../engine/quota.ts'
import { having, textLike, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'

/** What {@link registerQuotaMetrics} takes. */
export interface QuotaMetricsOptions {
  /** The engine whose decisions are counted. */
  readonly quota: Pick<Quota, 'on' | 'inForce' | 'policy' | 'holds' | 'holdTtlMs'>
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

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseMetricsOptions: (options: unknown) => ParsedOptions = /* @__PURE__ */ optionsParser(
  'registerQuotaMetrics()',
  () => ({
    quota: having<QuotaMetricsOptions['quota']>(['on', 'inForce'], 'an engine: what createQuota() gives'),
    registry: having<QuotaMetricsOptions['registry']>(
      ['registerMetric', 'getSingleMetric', 'removeSingleMetric'],
      "prom-client's register, or a new Registry()",
    ),
    prefix: withDefault(
      textLike(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/, 'the beginning of a metric name: letters, digits, _ and :'),
      'scoregw_quota_',
    ),
  }),
)
