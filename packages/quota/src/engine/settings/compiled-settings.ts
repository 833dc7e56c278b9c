import { policyCells, takesSlot } from '../../policy/cells.ts'
import { effectiveQuotas, type LimitInputs, planNames, type Quotas } from '../../policy/limits.ts'
import type { OverrunPolicy, Policy } from '../../policy/policy.ts'
import type { SubjectSettings, VersionedSettings } from '../../policy/settings.ts'
import { mapValues } from '../../policy/stored.ts'
import { costsOf, noneOf, unitNames, vectorOf } from '../../policy/units.ts'
import { ownOf } from '../../policy/values.ts'
import { priceOf } from '../../policy/warnings.ts'
import type { Clock } from '../../time/clock.ts'
import { type Uses, usesOf } from '../decide/fingerprint.ts'

/** An operation as decisions need it. */
export interface CompiledOperation {
  readonly name: string
  /** Index into the policy's categories. */
  readonly category: number
  /**
   * Price under the settings, as stores take it: one array for all requests at the price. It takes a slot where the policy
   * limits how much of it is in flight, in some layer, on or off.
   */
  readonly costs: readonly number[]
  readonly uses: Uses
  readonly overrun: OverrunPolicy
  /** Most that one commit charges beyond its hold, one number a unit; 0 where an overrun is refused. */
  readonly maxOverrun: readonly number[]
}

/** Settings of one subject by the names of its layers; layers without any are absent. */
export type SettingsByLayer = Readonly<Record<string, SubjectSettings>>

/**
 * Quotas worked out before, of subjects with the same settings in the layers so far: gone with these settings. There are no
 * more than there are plans, times the ways in which parts of the settings may have ended.
 */
interface CacheEntry {
  /** Whether some part of the settings ends at some time. */
  readonly ends: boolean
  /** By the request's plan and what has ended. */
  readonly quotas: Map<string, readonly Quotas[]>
  /** By the settings in the next layer, or {@link NO_SETTINGS}. */
  readonly next: WeakMap<object, CacheEntry>
}

const NO_SETTINGS = {}

function emptyEntry(ends: boolean): CacheEntry {
  return { ends, quotas: new Map(), next: new WeakMap() }
}

/** One version of the settings under one adaptive factor, worked out for the decisions made under them. */
export class CompiledSettings {
  readonly settings: VersionedSettings
  readonly operations: ReadonlyMap<string, CompiledOperation>
  /** Of a policy with one operation: that one, so that requests need not name it. */
  readonly only: CompiledOperation | undefined
  /** Quotas of subjects without settings of their own and without a plan, by category. */
  readonly defaults: readonly Quotas[]
  readonly #terms: LimitInputs
  readonly #ownLayers: readonly string[]
  readonly #plans: ReadonlySet<string>
  readonly #cache = emptyEntry(false)

  /** @param factorHundredths the adaptive factor; counts in mode `adaptive` alone */
  constructor(policy: Policy, settings: VersionedSettings, factorHundredths = 100) {
    this.settings = settings
    this.#terms = { policy, cells: policyCells(policy), settings, factorHundredths }
    this.#ownLayers = policy.layers.filter((layer) => !layer.shared).map(({ name }) => name)
    this.#plans = new Set(planNames(policy, settings))
    this.defaults = effectiveQuotas(this.#terms)
    this.operations = new Map(Object.keys(policy.operations).map((name) => [name, compiled(policy, settings, name)]))
    this.only = this.operations.size === 1 ? this.operations.values().next().value : undefined
  }

  /**
   * Quotas by category of a subject with settings in some layers, and with the plan that its request names: the same
   * objects for the same settings and plan, as long as nothing that they follow from has ended.
   *
   * @param clock asked only where the settings say until when they are in force
   * @param unknown receives an unknown plan: of the request's always, of the settings' when they are worked out
   */
  quotasOf(
    subjects: SettingsByLayer,
    plan: string | undefined,
    clock: Clock,
    unknown: (plan: string, of: 'request' | 'settings') => void,
  ): readonly Quotas[] {
    const entry = this.#entryOf(subjects)
    // Plans that nobody knows share the quotas of those who have none: names from requests fill no memory.
    const isUnknown = plan !== undefined && !this.#plans.has(plan)
    if (isUnknown) unknown(plan, 'request')
    const named = isUnknown ? undefined : plan
    const now = entry.ends ? clock.now() : 0
    const key = entry.ends ? `${this.#partsAt(subjects, now)} ${named ?? ''}` : (named ?? '')
    const before = entry.quotas.get(key)
    if (before !== undefined) return before
    const inForce = mapValues(subjects, (each) => inForceAt(each, now))
    for (const { plan: stored } of Object.values(inForce)) {
      if (stored !== null && !this.#plans.has(stored)) unknown(stored, 'settings')
    }
    const quotas = effectiveQuotas(this.#terms, { subjects: inForce, plan: named })
    entry.quotas.set(key, quotas)
    return quotas
  }

  #entryOf(subjects: SettingsByLayer): CacheEntry {
    let entry = this.#cache
    for (const layer of this.#ownLayers) {
      const settings = ownOf(subjects, layer)
      let next = entry.next.get(settings ?? NO_SETTINGS)
      if (next === undefined) {
        const { overrides = null, plan = null } = settings?.until ?? {}
        next = emptyEntry(entry.ends || overrides !== null || plan !== null)
        entry.next.set(settings ?? NO_SETTINGS, next)
      }
      entry = next
    }
    return entry
  }

  /** Two letters a layer for which parts of a subject's settings are in force. */
  #partsAt(subjects: SettingsByLayer, now: number): string {
    const parts = this.#ownLayers.map((layer) => {
      const until = ownOf(subjects, layer)?.until
      return until === undefined ? '-' : `${Number(isOver(until.overrides, now))}${Number(isOver(until.plan, now))}`
    })
    return parts.join('')
  }
}

function compiled(policy: Policy, settings: VersionedSettings, name: string): CompiledOperation {
  const { category, overrun = 'refuse', maxOverrun } = policy.operations[name]!
  const units = unitNames(policy)
  const most = overrun === 'refuse' ? undefined : maxOverrun
  return {
    name,
    category: policy.categories.indexOf(category),
    costs: costsOf(priceOf(policy, settings, name), takesSlot(policy, name)),
    uses: usesOf(name),
    overrun,
    maxOverrun: most === undefined ? noneOf(units) : vectorOf(units, most, noneOf(units)),
  }
}

function isOver(until: number | null, now: number): boolean {
  return until !== null && now >= until
}

/** The part of a subject's settings that is in force at an instant. */
function inForceAt(settings: SubjectSettings, now: number): SubjectSettings {
  const { overrides, plan, until } = settings
  return {
    ...settings,
    overrides: isOver(until.overrides, now) ? {} : overrides,
    plan: isOver(until.plan, now) ? null : plan,
  }
}
