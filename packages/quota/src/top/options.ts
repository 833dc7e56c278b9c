import type { Quota } from '../engine/quota.ts'
import { aClock, having, optional, where, wholeNumber, withDefault } from '../options/checks.ts'
import { noSuchName } from '../options/names.ts'
import { optionsParser } from '../options/options-parser.ts'
import { type Clock, systemClock } from '../time/clock.ts'

/** What {@link topSubjects} takes. */
export interface TopSubjectsOptions {
  /** The engine whose decisions are counted. */
  readonly quota: Pick<Quota, 'on' | 'policy'>
  /**
   * How far back is counted, in milliseconds, 6 seconds to 31 days; forgotten in sixths.
   * @default 600_000
   */
  readonly periodMs?: number | undefined
  /**
   * The layer whose keys are counted, where subjects have one for each layer; not a shared one.
   * @default the policy's first layer that is not shared
   */
  readonly layer?: string | undefined
  /** @default the machine's */
  readonly clock?: Clock | undefined
}

/** The same with the defaults filled in, but for the layer. */
export interface ParsedOptions extends TopSubjectsOptions {
  readonly periodMs: number
  readonly clock: Clock
}

/** @throws {QuotaError} `invalid_options` naming every fault */
export const parseTopOptions: (options: unknown) => ParsedOptions = /* @__PURE__ */ optionsParser<ParsedOptions>(
  'topSubjects()',
  () => ({
    quota: having<TopSubjectsOptions['quota']>(['on', 'inForce'], 'an engine: what createQuota() gives'),
    periodMs: withDefault(wholeNumber(6_000, 31 * 86_400_000, 'milliseconds'), 600_000),
    layer: optional(where<string>((value) => typeof value === 'string', "a layer's name")),
    clock: withDefault(aClock(), systemClock),
  }),
  {
    between({ quota, layer }) {
      const own = quota.policy.layers.filter(({ shared }) => !shared).map(({ name }) => name)
      if (layer === undefined || own.includes(layer)) return []
      return [{ path: 'layer', message: `no layer of subjects' own ${noSuchName(layer, own, 'the policy has')}` }]
    },
  },
)
