import type { Meter } from '@opentelemetry/api'
import { having, oneOf, optional, textLike, withDefault } from '../options/checks.ts'
import { optionsParser } from '../options/options-parser.ts'
import { enginePart, PREFIX, type QuotaMetricsOptions } from './options.ts'

/** What {@link instrumentQuota} takes. */
export interface QuotaTelemetryOptions {
  /** The engine whose decisions are told. */
  readonly quota: QuotaMetricsOptions['quota']
  /**
   * Where the metrics are kept.
   * @default the global meter of the name `@scoregw/quota`
   */
  readonly meter?: Meter | undefined
  /**
   * The beginning of every metric's name. Engines that share a meter need one each.
   * @default 'scoregw_quota_'
   */
  readonly prefix?: string | undefined
  /**
   * Whether decisions are told as attributes of the span that is active.
   * @default true
   */
  readonly spans?: boolean | undefined
  /**
   * Whether these say who asked. Spans are read by more people than the data of your users should be.
   * @default false
   */
  readonly subjects?: boolean | undefined
}

/** The same with the defaults filled in. */
export interface ParsedTelemetryOptions extends QuotaTelemetryOptions {
  readonly prefix: string
  readonly spans: boolean
  readonly subjects: boolean
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseTelemetryOptions: (options: unknown) => ParsedTelemetryOptions = /* @__PURE__ */ optionsParser(
  'instrumentQuota()',
  () => ({
    quota: enginePart(),
    meter: optional(having<Meter>(['createHistogram', 'createObservableCounter'], 'a meter of @opentelemetry/api')),
    prefix: withDefault(
      textLike(/^[a-zA-Z][a-zA-Z0-9_.\-/]*$/, 'the beginning of a metric name: letters, digits, _ . - /'),
      PREFIX,
    ),
    spans: withDefault(oneOf(true, false), true),
    subjects: withDefault(oneOf(true, false), false),
  }),
)
