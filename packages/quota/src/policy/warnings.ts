import type { Fault } from '../errors/quota-error.ts'
import { REQUESTS } from '../windows/units.ts'
import { counts, placedLimits } from './cells.ts'
import { ADAPTIVE_HUNDREDTHS, effectiveQuotas, type LimitInputs, planLimit, planNames } from './limits.ts'
import type { LimitRule, Policy } from './policy.ts'
import { initialSettings, type Settings } from './settings.ts'
import { unitNames, vectorOf } from './units.ts'
import { ownOf } from './values.ts'

/** Returns an operation's price under the settings, one number per unit. The default is the policy's price. */
export function priceOf(policy: Policy, settings: Settings, operation: string): readonly number[] {
  const units = unitNames(policy)
  const standard = units.map((unit) => Number(unit === REQUESTS))
  const own = vectorOf(units, policy.operations[operation]!.cost ?? {}, standard)
  return vectorOf(units, ownOf(settings.prices, operation) ?? {}, own)
}

/**
 * Warns of operations that valid settings make impossible: a limit is below the price, or no slot is available. There
 * is one entry per limit, which names the operations. `path` points into the mode's table or a plan. Mode `adaptive` is
 * checked at its lowest factor. Shadowed limits make nothing impossible.
 *
 * @param least limits below this are ignored
 */
export function settingsWarnings(policy: Policy, settings: Settings, least: 0 | 1 = 0): Fault[] {
  const amounts = settings.mode === 'custom' ? 'custom' : 'limits'
  const inputs = { policy, settings, factorHundredths: ADAPTIVE_HUNDREDTHS.min }
  return [
    ...warningsOf(inputs, undefined, least).map(({ path, message }) => ({ path: `${amounts}.${path}`, message })),
    ...planNames(policy, settings).flatMap((plan) =>
      warningsOf(inputs, plan, least).map(({ path, message }) => ({ path: `plans.${plan}.${path}`, message })),
    ),
  ]
}

/** Warns about a policy's own limits. A limit of 0 blocks on purpose, so it is no cause for a warning. */
export function policyWarnings(policy: Policy): Fault[] {
  return settingsWarnings(policy, initialSettings(policy), 1)
}

/** @param plan whose limits to check; `undefined`: those of subjects without a plan */
function warningsOf(inputs: LimitInputs, plan: string | undefined, least: 0 | 1): Fault[] {
  const { policy, settings } = inputs
  const { limits } = effectiveQuotas(inputs, { plan })
  return placedLimits(policy).shown.flatMap(({ rule, at }) => {
    const isLookedAt = plan === undefined || planLimit({ policy, settings }, plan, rule.name) !== undefined
    const limit = limits[at]!
    const message = isLookedAt && limit >= least ? warning(inputs, rule, limit) : undefined
    return message === undefined ? [] : [{ path: rule.name, message }]
  })
}

function warning({ policy, settings }: LimitInputs, rule: LimitRule, limit: number): string | undefined {
  const operations = Object.keys(policy.operations).filter((name) => counts(rule, name))
  if (rule.window === undefined) {
    return limit === 0 && operations.length > 0 ? `a limit of 0 never admits ${operations.join(', ')}` : undefined
  }
  const unit = unitNames(policy).indexOf(rule.unit)
  const tooDear = operations.filter((name) => priceOf(policy, settings, name)[unit]! > limit)
  const where = settings.mode === 'adaptive' ? ` at factor ${ADAPTIVE_HUNDREDTHS.min / 100}` : ''
  const what = rule.window.burst === undefined ? 'limit' : 'burst'
  return tooDear.length === 0
    ? undefined
    : `the effective ${what} of ${limit} ${rule.unit}${where} is below the price of ${tooDear.join(', ')}`
}
