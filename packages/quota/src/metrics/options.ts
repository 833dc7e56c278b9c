import type { Registry, RegistryContentType } from 'prom-client'
import type { Quota } from '../engine/quota.ts'
import { type Check, having, textLike, withDefault } from '../options/checks.ts'
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

export const PREFIX = 'scoregw_quota_'

/** Checks what of an engine is looked at. */
export function enginePart(): Check<QuotaMetricsOptions['quota']> {
  return having<QuotaMetricsOptions['quota']>(['on', 'inForce'], 'an engine: what createQuota() gives')
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseMetricsOptions: (options: unknown) => ParsedOptions = /* @__PURE__ */ optionsParser(
  'registerQuotaMetrics()',
  () => ({
    quota: enginePart(),
    registry: having<QuotaMetricsOptions['registry']>(
      ['registerMetric', 'getSingleMetric', 'removeSingleMetric'],
      "prom-client's register, or a new Registry()",
    ),
    prefix: withDefault(
      textLike(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/, 'the beginning of a metric name: letters, digits, _ and :'),
      PREFIX,
    ),
  }),
)
