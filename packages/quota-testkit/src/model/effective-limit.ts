import type { Limit, LimitTable, Policy, Settings, SubjectSettings } from '@scoregw/quota'
import type { LayerDefinition } from '@scoregw/quota/store'

/** Identifies a limit by layer, category and label. */
export interface LimitOf {
  readonly layer: LayerDefinition
  readonly category: string
  readonly label: string
  /** Whether it is a concurrency limit. Modes and multipliers don't apply to those. */
  readonly isSlots: boolean
}

/** The inputs of a subject's limits. */
export interface LimitInputs {
  readonly policy: Policy
  readonly settings: Settings
  /** The subject's effective settings in the layer. */
  readonly subject: SubjectSettings | undefined
  /** The plan of the request. */
  readonly plan: string | undefined
}

/** The multipliers of the modes. A custom table isn't multiplied. */
const FACTORS: Readonly<Record<string, number>> = { conservative: 0.75, normal: 1, lenient: 1.5, custom: 1 }

/** Computes an effective limit with big integers, so that nothing is rounded; `undefined`: no limit. */
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

/** A plan's definition. Stored values override those of the policy, value by value. */
function ofPlan(policy: Policy, settings: Settings, plan: string, of: LimitOf): Limit | undefined {
  const [own, first] = [settings.plans, policy.plans ?? {}].map((plans) =>
    Object.hasOwn(plans, plan) ? entry(plans[plan] ?? null, of) : undefined,
  )
  return own ?? first
}

/** Whether a limit is shadowed: charged and reported, but it refuses nothing. */
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
