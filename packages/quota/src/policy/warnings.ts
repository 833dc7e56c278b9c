import type { Fault } from '../errors/quota-error.ts'
import type { CellSchema } from '../windows/identity.ts'
import { layerAt, limitLabels, placedLimits, takesSlot } from './cells.ts'
import { ADAPTIVE_HUNDREDTHS, effectiveQuotas, type LimitInputs, planLimit, planNames } from './limits.ts'
import type { Policy } from './policy.ts'
import { initialSettings, type Settings } from './settings.ts'
import { noneOf, unitNames, vectorOf } from './units.ts'
import { ownOf } from './values.ts'

/** Returns an operation's price under the settings, one number per unit. The default is the policy's price. */
export function priceOf(policy: Policy, settings: Settings, operation: string): readonly number[] {
  const units = unitNames(policy)
  const own = vectorOf(units, policy.operations[operation]!.cost, noneOf(units))
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
  const table = settings.mode === 'custom' ? 'custom' : 'base'
  const terms = { policy, settings, factorHundredths: ADAPTIVE_HUNDREDTHS.min }
  return [
    ...warningsOf(terms, undefined, least).map(({ path, message }) => ({ path: `${table}.${path}`, message })),
    ...planNames(policy, settings).flatMap((plan) =>
      warningsOf(terms, plan, least).map(({ path, message }) => ({ path: `plans.${plan}.${path}`, message })),
    ),
  ]
}

/** Warns about a policy's own limits. A limit of 0 blocks on purpose, so it is no cause for a warning. */
export function policyWarnings(policy: Policy): Fault[] {
  return settingsWarnings(policy, initialSettings(policy), 1)
}

/** @param plan whose limits to check; `undefined`: those of subjects without a plan */
function warningsOf(terms: LimitInputs, plan: string | undefined, least: 0 | 1): Fault[] {
  const { policy, settings } = terms
  const { layers, limits } = effectiveQuotas(terms, { plan })
  const { layout, rowCells } = placedLimits(policy)
  return policy.categories.flatMap((category, categoryIndex) =>
    policy.layers.flatMap(({ name: layer }, layerIndex) => {
      const index = layerAt(policy, layerIndex, categoryIndex)
      if (!layers.includes(index)) return []
      return limitLabels(policy).flatMap((label) => {
        const isLookedAt = plan === undefined || planLimit(policy, settings, plan, layer, category, label) !== undefined
        const cell = rowCells.findIndex((each) => each.label === label)
        const limit = limits[layout.rows[index]!.first + cell]!
        const message = isLookedAt && limit >= least ? warning(terms, category, rowCells[cell]!, limit) : undefined
        return message === undefined ? [] : [{ path: `${layer}.${category}.${label}`, message }]
      })
    }),
  )
}

function warning(
  { policy, settings }: LimitInputs,
  category: string,
  { kind, unit }: CellSchema,
  limit: number,
): string | undefined {
  const operations = Object.keys(policy.operations).filter((name) => policy.operations[name]!.category === category)
  if (kind === 'concurrency') {
    const stopped = limit === 0 ? operations.filter((name) => takesSlot(policy, name)) : []
    return stopped.length === 0 ? undefined : `a limit of 0 lets no work be under way of ${stopped.join(', ')}`
  }
  const tooDear = operations.filter((name) => priceOf(policy, settings, name)[unit]! > limit)
  const where = settings.mode === 'adaptive' ? ` at factor ${ADAPTIVE_HUNDREDTHS.min / 100}` : ''
  return tooDear.length === 0
    ? undefined
    : `the effective ${kind === 'bucket' ? 'burst' : 'limit'} of ${limit} ${unitNames(policy)[unit]!}${where} is below the price of ${tooDear.join(', ')}`
}
