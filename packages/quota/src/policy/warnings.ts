import type { Fault } from '../errors/quota-error.ts'
import type { CellSchema } from '../windows/identity.ts'
import { limitLabels, policyCells, takesSlot } from './cells.ts'
import { ADAPTIVE_HUNDREDTHS, effectiveQuotas, type LimitInputs, planLimit, planNames } from './limits.ts'
import type { Policy } from './policy.ts'
import { initialSettings, type Settings } from './settings.ts'
import { noneOf, unitNames, vectorOf } from './units.ts'
import { ownOf } from './values.ts'

/**
 * An operation's price under the settings, one number per unit. The policy's price applies if the settings have none.
 */
export function priceOf(policy: Policy, settings: Settings, operation: string): readonly number[] {
  const units = unitNames(policy)
  const own = vectorOf(units, policy.operations[operation]!.cost, noneOf(units))
  return vectorOf(units, ownOf(settings.prices, operation) ?? {}, own)
}

/**
 * What in accepted settings makes an operation impossible: a limit below its price, or one that lets none of it be in
 * flight. One entry a limit, naming the operations; `path` points into the table that the mode reads, or into a plan. Mode
 * `adaptive` is judged at its lowest factor; shadowed limits make nothing impossible.
 *
 * @param least limits below this are not looked at
 */
export function settingsWarnings(policy: Policy, settings: Settings, least: 0 | 1 = 0): Fault[] {
  const table = settings.mode === 'custom' ? 'custom' : 'base'
  const terms = { policy, cells: policyCells(policy), settings, factorHundredths: ADAPTIVE_HUNDREDTHS.min }
  return [
    ...warningsOf(terms, undefined, least).map(({ path, message }) => ({ path: `${table}.${path}`, message })),
    ...planNames(policy, settings).flatMap((plan) =>
      warningsOf(terms, plan, least).map(({ path, message }) => ({ path: `plans.${plan}.${path}`, message })),
    ),
  ]
}

/** Warnings of a policy before any change. A limit of 0 blocks on purpose, so it causes no warning. */
export function policyWarnings(policy: Policy): Fault[] {
  return settingsWarnings(policy, initialSettings(policy), 1)
}

/** @param plan checks its limits; `undefined`: the limits of subjects without a plan */
function warningsOf(terms: LimitInputs, plan: string | undefined, least: 0 | 1): Fault[] {
  const { policy, cells, settings } = terms
  return effectiveQuotas(terms, { plan }).flatMap(({ layers, limits }, categoryIndex) => {
    const category = policy.categories[categoryIndex]!
    return layers.flatMap((layerIndex, slot) => {
      const layer = policy.layers[layerIndex]!.name
      return limitLabels(policy).flatMap((label) => {
        const isLookedAt = plan === undefined || planLimit(policy, settings, plan, layer, category, label) !== undefined
        const cell = cells.findIndex((each) => each.label === label)
        const limit = limits[slot * cells.length + cell]!
        const message = isLookedAt && limit >= least ? warning(terms, category, cells[cell]!, limit) : undefined
        return message === undefined ? [] : [{ path: `${layer}.${category}.${label}`, message }]
      })
    })
  })
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
