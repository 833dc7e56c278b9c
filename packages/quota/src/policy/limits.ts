import type { Limit, LimitTable, Policy } from './policy.ts'
import type { Mode, Settings, SubjectSettings } from './settings.ts'

/** Factors of the fixed modes in whole hundredths, so that limits are exact integers. `custom` has a table of its own. */
const MODE_HUNDREDTHS: Readonly<Record<Exclude<Mode, 'adaptive' | 'custom'>, number>> = {
  conservative: 75,
  normal: 100,
  lenient: 150,
}

/** The lowest and the highest factor of mode `adaptive`, in whole hundredths. */
export const ADAPTIVE_HUNDREDTHS = { min: 75, max: 150 } as const

/** Largest base limit, override or custom limit, in tokens. With it `base * 150 * 400` stays a safe integer. */
export const MAX_LIMIT: number = 10 ** 11

/** What decides one request: which layers apply and the effective limit of each of their windows. */
export interface Quotas {
  /** Indices of the layers that apply, in the policy's order. */
  readonly layers: readonly number[]
  /** Effective limits in tokens, the windows of each applying layer in turn; `Infinity`: unlimited. */
  readonly limits: readonly number[]
}

/** A factor with at most two decimals as whole hundredths, or `undefined` where it has more. */
export function hundredths(factor: number): number | undefined {
  const whole = Math.round(factor * 100)
  return whole / 100 === factor ? whole : undefined
}

/** `floor(base x mode x multiplier)` in exact integers, both factors in hundredths; a base above 0 never becomes 0. */
export function scaledLimit(base: Limit, modeHundredths: number, multiplierHundredths: number): number {
  if (base === 'unlimited') return Number.POSITIVE_INFINITY
  if (base === 0) return 0
  return Math.max(1, Math.floor((base * modeHundredths * multiplierHundredths) / 10_000))
}

/**
 * The quotas of one subject, one entry a category in the policy's order.
 *
 * Personal limit: the override if set, else `floor(base x mode)`.
 * Limit of a shared layer: `floor(base x mode x multiplier)`, if the layer is on and the subject does not bypass it.
 *
 * @param subjects settings of the subject in each layer, by layer name; layers without any are absent
 * @param factorHundredths what mode `adaptive` scales by, in hundredths: 75 to 150
 */
export function effectiveQuotas(
  policy: Policy,
  settings: Settings,
  subjects: Readonly<Record<string, SubjectSettings>> = {},
  factorHundredths = 100,
): readonly Quotas[] {
  const bypassed = new Set(Object.values(subjects).flatMap((subject) => subject.bypass))
  const layers = policy.layers.flatMap(({ name, shared }, index) =>
    shared && (!settings.layers[name]!.enabled || bypassed.has(name)) ? [] : [index],
  )
  const table = modeTable(settings, factorHundredths)
  return policy.categories.map((category) => ({
    layers,
    limits: layers.flatMap((index) => layerLimits(policy, settings, table, subjects, index, category)),
  }))
}

function layerLimits(
  policy: Policy,
  settings: Settings,
  [table, mode]: ModeTable,
  subjects: Readonly<Record<string, SubjectSettings>>,
  layerIndex: number,
  category: string,
): number[] {
  const { name, shared } = policy.layers[layerIndex]!
  const multiplier = shared ? hundredths(settings.layers[name]!.multiplier)! : 100
  return policy.windows.map(({ label }) => {
    const override = ownOf(ownOf(ownOf(subjects, name)?.overrides, category), label) ?? null
    return override === null
      ? scaledLimit(table[name]![category]![label]!, mode, multiplier)
      : scaledLimit(override, 100, 100)
  })
}

/** A record's own member: names may be such as every object has. */
export function ownOf<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}

/** The table that a mode reads, and the factor it puts on it in hundredths. */
type ModeTable = readonly [table: LimitTable, hundredths: number]

function modeTable(settings: Settings, factorHundredths: number): ModeTable {
  if (settings.mode === 'custom') return [settings.custom!, 100]
  if (settings.mode === 'adaptive') return [settings.base, factorHundredths]
  return [settings.base, MODE_HUNDREDTHS[settings.mode]]
}
