import type { Limit, LimitTable, Settings, SubjectSettings } from '@scoregw/quota'
import type { LayerDefinition } from '@scoregw/quota/store'

/** Whose limit: the window with this label in this layer and category. */
export interface LimitOf {
  readonly layer: LayerDefinition
  readonly category: string
  readonly label: string
}

/** What each mode multiplies base values by; a custom table is taken as it is. */
const FACTORS: Readonly<Record<string, number>> = { conservative: 0.75, normal: 1, lenient: 1.5, custom: 1 }

/** The limit in force, reckoned in big integers so that nothing is ever rounded. */
export function effectiveLimit(settings: Settings, subject: SubjectSettings | undefined, of: LimitOf): Limit {
  const override = subject?.overrides[of.category]?.[of.label] ?? null
  if (override !== null) return override
  const table = settings.mode === 'custom' ? settings.custom : settings.base
  const base = entry(table, of)
  if (base === 'unlimited' || base === 0) return base
  const factor = FACTORS[settings.mode]
  if (factor === undefined) throw new RangeError(`the model knows no mode "${settings.mode}"`)
  const multiplier = of.layer.shared ? (settings.layers[of.layer.name]?.multiplier ?? 1) : 1
  const scaled = (BigInt(base) * inHundredths(factor) * inHundredths(multiplier)) / 10_000n
  return scaled < 1n ? 1 : Number(scaled)
}

function inHundredths(factor: number): bigint {
  return BigInt(Math.round(factor * 100))
}

function entry(table: LimitTable | null, { layer, category, label }: LimitOf): Limit {
  const limit = table?.[layer.name]?.[category]?.[label]
  if (limit === undefined) throw new RangeError(`no limit for ${layer.name} ${category} ${label}`)
  return limit
}
