import type { Policy } from '@scoregw/quota'
import type { LimitNumber, LimitRule } from '@scoregw/quota/internal'
import type { ModelChange, QuotaModel } from '@scoregw/quota-testkit/model'
import { everyUnit, numberFor } from './amounts.ts'
import { pick } from './policies.ts'
import type { StepOf } from './steps.ts'

export type SettingsStep = StepOf<'mode' | 'limit' | 'custom' | 'site' | 'price' | 'shadow' | 'plan' | 'thresholds'>

/** What a step changes in the settings. */
export function settingsChange({ policy, settings }: QuotaModel, step: SettingsStep): ModelChange {
  if (step.kind === 'mode') return { mode: step.mode }
  if (step.kind === 'limit') return { limits: numbersOf([pick(policy.limits, step.limit)], step.number) }
  if (step.kind === 'custom') return { mode: 'custom' as const, custom: customOf(policy, step.number) }
  if (step.kind === 'price') {
    const operation = pick(Object.keys(policy.operations), step.operation)
    return { prices: { ...settings.prices, [operation]: everyUnit(policy, step.cost) } }
  }
  if (step.kind === 'shadow') return { shadow: shadowOf(policy, step) }
  if (step.kind === 'thresholds') return { thresholds: step.thresholds }
  if (step.kind === 'plan') {
    const rule = pick(ownLimits(policy), step.limit)
    return { plans: { [step.plan]: { [rule.name]: numberFor(rule, step.number) } } }
  }
  const { enabled, multiplier } = step
  const shared = policy.layers.filter((layer) => layer.shared)
  return { shared: Object.fromEntries(shared.map(({ name }) => [name, { enabled, multiplier }])) }
}

/** The limits that each subject has of its own. */
export function ownLimits({ limits, layers }: Policy): readonly LimitRule[] {
  return limits.filter(({ layer }) => layers[layer]?.shared === false)
}

/** One number for some limits. */
function numbersOf(rules: readonly LimitRule[], number: number | 'unlimited'): Readonly<Record<string, LimitNumber>> {
  return Object.fromEntries(rules.map((rule) => [rule.name, numberFor(rule, number)]))
}

/** One number for all limits, or for every second one: the others follow the base. */
function customOf({ limits }: Policy, number: number | 'unlimited'): Readonly<Record<string, LimitNumber>> {
  const isPartial = number !== 'unlimited' && number % 3 === 0
  return numbersOf(isPartial ? limits.filter((_, at) => at % 2 === 0) : limits, number)
}

/** One limit, or all of its layer. */
function shadowOf(
  { limits }: Policy,
  { limit, isLayer, isOn }: StepOf<'shadow'>,
): Readonly<Record<string, boolean | null>> {
  const one = pick(limits, limit)
  const meant = isLayer ? limits.filter(({ layer }) => layer === one.layer) : [one]
  return Object.fromEntries(meant.map(({ name }) => [name, isOn]))
}
