import type { Limit, LimitTable, Policy, Settings, SubjectSettings } from '@scoregw/quota'
import type { LayerDefinition } from '@scoregw/quota/store'

/** Whose limit: that with this label in this layer and category. */
export interface LimitOf {
  readonly layer: LayerDefinition
  readonly category: string
  readonly label: string
  /** Whether it is one of slots, which nothing scales. */
  readonly isSlots: boolean
}

/** What limits follow from, for one subject. */
export interface LimitInputs {
  readonly policy: Policy
  readonly settings: Settings
  /** The subject's settings in the layer, as they are in force. */
  readonly subject: SubjectSettings | undefined
  /** The plan that the request names. */
  readonly plan: string | undefined
}

/** What each mode multiplies base values by; a custom table is taken as it is. */
const FACTORS: Readonly<Record<string, number>> = { conservative: 0.75, normal: 1, lenient: 1.5, custom: 1 }

/** The limit in force, reckoned in big integers so that nothing is ever rounded; `undefined`: there is none. */
export function effectiveLimit({ policy, settings, subject, plan }: LimitInputs, of: LimitOf): Limit | undefined {
  const known = entry(policy.base, of)
  if (known === undefined) return undefined
  const override = subject?.overrides[of.category]?.[of.label] ?? null
  if (override !== null) return override
  const named = of.layer.shared ? undefined : (subject?.plan ?? plan)
  const planned = named === undefined ? undefined : ofPlan(policy, settings, named, of)
  const table = settings.mode === 'custom' ? settings.custom : settings.base
  const value = planned ?? entry(table, of) ?? known
  if (value === 'unlimited' || value === 0 || of.isSlots) return value
  const factor = FACTORS[settings.mode]
  if (factor === undefined) throw new RangeError(`the model knows no mode "${settings.mode}"`)
  const multiplier = of.layer.shared ? (settings.layers[of.layer.name]?.multiplier ?? 1) : 1
  const scaled = (BigInt(value) * inHundredths(factor) * inHundredths(multiplier)) / 10_000n
  return scaled < 1n ? 1 : Number(scaled)
}

/** What a plan says: the settings before the policy, value by value. */
function ofPlan(policy: Policy, settings: Settings, plan: string, of: LimitOf): Limit | undefined {
  const [own, first] = [settings.plans, policy.plans ?? {}].map((plans) =>
    Object.hasOwn(plans, plan) ? entry(plans[plan] ?? null, of) : undefined,
  )
  return own ?? first
}

/** Whether a limit is charged and reported, and refuses no request. */
export function isShadowed({ shadow }: Settings, { layer, label }: LimitOf): boolean {
  const ofLayer = shadow[layer.name]
  return ofLayer === 'all' || ofLayer?.includes(label) === true
}

function inHundredths(factor: number): bigint {
  return BigInt(Math.round(factor * 100))
}

function entry(table: LimitTable | null, { layer, category, label }: LimitOf): Limit | undefined {
  return table?.[layer.name]?.[category]?.[label]
}
