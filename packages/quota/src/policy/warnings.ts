import type { Fault } from '../errors/quota-error.ts'
import { ADAPTIVE_HUNDREDTHS, effectiveQuotas, ownOf } from './limits.ts'
import type { Policy } from './policy.ts'
import type { Settings } from './settings.ts'

/** An operation's price under the settings, in tokens. */
export function priceOf(policy: Policy, settings: Settings, operation: string): number {
  return ownOf(settings.prices, operation) ?? policy.operations[operation]!.cost
}

/**
 * What in accepted settings makes an operation impossible: a limit below its price. One entry a window, naming the
 * operations; `path` points into the table that the mode reads. Mode `adaptive` is judged at its lowest factor.
 */
export function settingsWarnings(policy: Policy, settings: Settings): Fault[] {
  const table = settings.mode === 'custom' ? 'custom' : 'base'
  const { min } = ADAPTIVE_HUNDREDTHS
  const where = settings.mode === 'adaptive' ? ` at factor ${min / 100}` : ''
  return effectiveQuotas(policy, settings, {}, min).flatMap(({ layers, limits }, categoryIndex) => {
    const category = policy.categories[categoryIndex]!
    const operations = Object.keys(policy.operations).filter((name) => policy.operations[name]!.category === category)
    return limits.flatMap((limit, index) => {
      const layer = policy.layers[layers[Math.floor(index / policy.windows.length)]!]!
      const { label } = policy.windows[index % policy.windows.length]!
      const tooDear = operations.filter((name) => priceOf(policy, settings, name) > limit)
      if (tooDear.length === 0) return []
      const message = `the effective limit of ${limit} tokens${where} is below the price of ${tooDear.join(', ')}`
      return [{ path: `${table}.${layer.name}.${category}.${label}`, message }]
    })
  })
}
