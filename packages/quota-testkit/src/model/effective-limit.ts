import type { Limit, Policy, Settings, SubjectSettings } from '@scoregw/quota'
import type { LimitNumber, LimitRule, LimitSource } from '@scoregw/quota/internal'

/** Numbers by the names of limits. `null`: none. */
export type ModelNumbers = Readonly<Record<string, LimitNumber | null | undefined>>

/** The inputs of a subject's limits. */
export interface LimitInputs {
  readonly policy: Policy
  readonly settings: Settings
  /** The subject's effective settings by layer. */
  readonly subjects: ReadonlyMap<string, SubjectSettings>
  /** The plan of the request. */
  readonly plan: string | undefined
  /** The numbers of the request. */
  readonly numbers: ModelNumbers | undefined
}

/** How much is allowed, and where the number comes from. */
export interface EffectiveLimit {
  readonly limit: Limit
  /** The most at one time: a bucket's burst, otherwise the limit. */
  readonly most: Limit
  readonly from: LimitSource
}

/** The multipliers of the modes. Numbers of mode `custom` aren't multiplied. */
const FACTORS: Readonly<Record<string, number>> = { conservative: 0.75, normal: 1, lenient: 1.5, custom: 1 }

/** Computes an effective limit with big integers, so that nothing is rounded. */
export function effectiveLimit(inputs: LimitInputs, rule: LimitRule): EffectiveLimit {
  const [number, from] = numberOf(inputs, rule)
  const limit = scaled(inputs, rule, typeof number === 'object' ? number.limit : number, from)
  return { limit, most: mostOf(rule, number, limit), from }
}

/** That of the subject, the request or the plan, else that of mode `custom`, else the base. */
function numberOf(inputs: LimitInputs, rule: LimitRule): readonly [LimitNumber, LimitSource] {
  const { settings } = inputs
  const own = ownNumber(inputs, rule)
  if (own !== undefined) return own
  const custom = settings.mode === 'custom' ? memberOf(settings.custom ?? {}, rule.name) : undefined
  return custom === undefined ? [settings.limits[rule.name] ?? rule.limit, 'base'] : [custom, 'custom']
}

/** The subject's number, else the request's, else the plan's. Shared limits have none of these. */
function ownNumber(
  inputs: LimitInputs,
  { name, layer: index }: LimitRule,
): readonly [LimitNumber, LimitSource] | undefined {
  const { policy, settings, subjects, plan, numbers } = inputs
  const layer = policy.layers[index]
  if (layer === undefined || layer.shared) return undefined
  const stored = subjects.get(layer.name)?.limits[name] ?? undefined
  if (stored !== undefined) return [stored, 'subject']
  const requested = memberOf(numbers, name) ?? undefined
  if (requested !== undefined) return [requested, 'request']
  const planned = subjects.get(policy.planOf ?? layer.name)?.plan ?? plan
  const ofPlan = planned === undefined ? undefined : numberOfPlan(policy, settings, planned, name)
  return ofPlan === undefined ? undefined : [ofPlan, 'plan']
}

/** A plan's number. Stored numbers override those of the policy, one by one. */
function numberOfPlan(policy: Policy, settings: Settings, plan: string, name: string): LimitNumber | undefined {
  return memberOf(memberOf(settings.plans, plan), name) ?? memberOf(memberOf(policy.plans, plan), name)
}

/** Numbers of one subject or request are absolute, and concurrency is never scaled. */
function scaled({ policy, settings }: LimitInputs, rule: LimitRule, number: Limit, from: LimitSource): Limit {
  const isAbsolute = from === 'subject' || from === 'request' || rule.window === undefined
  if (isAbsolute || number === 'unlimited' || number === 0) return number
  const factor = FACTORS[settings.mode]
  if (factor === undefined) throw new RangeError(`the model knows no mode "${settings.mode}"`)
  const layer = policy.layers[rule.layer]
  const multiplier = layer?.shared === true ? (settings.shared[layer.name]?.multiplier ?? 1) : 1
  return atLeastOne(BigInt(number) * inHundredths(factor) * inHundredths(multiplier), 10_000n)
}

/** How much of a limit can be saved up. A number other than the policy's keeps the share that the burst has of it. */
function mostOf({ window, limit: standard }: LimitRule, number: LimitNumber, limit: Limit): Limit {
  const burst = window?.burst
  if (burst === undefined || limit === 'unlimited' || limit === 0) return limit
  if (typeof number === 'object') return Math.min(number.burst, limit)
  if (typeof burst === 'object') return atLeastOne(BigInt(limit) * inHundredths(burst.share), 100n)
  const isOther = typeof number === 'number' && number !== standard && standard !== 'unlimited' && standard > 0
  return Math.min(isOther ? atLeastOne(BigInt(number) * BigInt(burst), BigInt(standard)) : burst, limit)
}

function atLeastOne(product: bigint, divisor: bigint): number {
  return Math.max(1, Number(product / divisor))
}

function inHundredths(factor: number): bigint {
  return BigInt(Math.round(factor * 100))
}

/** Names may equal those of inherited properties. */
function memberOf<T>(record: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined
}
