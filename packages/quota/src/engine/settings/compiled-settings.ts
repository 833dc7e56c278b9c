import { placedLimits, takesSlot } from '../../policy/cells.ts'
import { effectiveQuotas, type LimitInputs, planNames, type Quotas } from '../../policy/limits.ts'
import type { LimitNumbers, OverrunPolicy, Policy } from '../../policy/policy.ts'
import { type SubjectSettings, type VersionedSettings, WITHOUT_SETTINGS } from '../../policy/settings.ts'
import { priceOf } from '../../policy/settings-schema.ts'
import { costsOf, noneOf, unitNames, vectorOf } from '../../policy/units.ts'
import { mapValues, ownOf } from '../../policy/values.ts'
import type { Clock } from '../../time/clock.ts'
import { type Uses, usesOf } from '../reservations/hold-token.ts'

/** An operation with the values that decisions need. */
export interface CompiledOperation {
  readonly name: string
  /** Which limits count it: an index of the schema's `sets`. */
  readonly set: number
  /**
   * The price under the settings, as a vector for stores. All requests at the price share it. It includes a slot if any
   * layer limits the operation's concurrency, even if that limit is off.
   */
  readonly costs: readonly number[]
  readonly uses: Uses
  readonly overrun: OverrunPolicy
  /** The most that a commit may charge above its hold, one amount per unit; 0 if an overrun is refused. */
  readonly maxOverrun: readonly number[]
}

/** A subject's settings by layer name. Layers without settings are absent. */
export type SettingsByLayer = Readonly<Record<string, SubjectSettings>>

/**
 * Cached quotas of subjects with the same settings in the layers so far. The cache ends with these settings. It has at
 * most one entry per plan, times the combinations of parts that may have ended.
 */
interface CacheEntry {
  /** Whether some part of the settings has an end. */
  readonly ends: boolean
  /** By the request's plan and limits, and by what has ended. */
  readonly quotas: Map<string, Quotas>
  /** By the settings in the next layer, or {@link NO_SETTINGS}. */
  readonly next: WeakMap<object, CacheEntry>
}

const NO_SETTINGS = {}
/** Stands for the settings in a layer in which the subject has no key. */
export const NO_KEY: SubjectSettings = { ...WITHOUT_SETTINGS, limits: {} }
/** The most quotas cached for the same settings. */
const MAX_QUOTAS = 1_000

/** The part of a request that determines its limits, besides its subject. */
export interface RequestTerms {
  readonly plan?: string | undefined
  readonly numbers?: LimitNumbers | undefined
}

/** Numbers as text. In another order they are computed once more. */
function numbersText(numbers: LimitNumbers): string {
  let text = ''
  for (const name in numbers) {
    const number = numbers[name]!
    text += typeof number === 'object' ? ` ${name}=${number.limit}/${number.burst}` : ` ${name}=${number}`
  }
  return text
}

function emptyEntry(ends: boolean): CacheEntry {
  return { ends, quotas: new Map(), next: new WeakMap() }
}

/** One version of the settings with one adaptive factor, prepared for decisions. */
export class CompiledSettings {
  readonly settings: VersionedSettings
  readonly operations: ReadonlyMap<string, CompiledOperation>
  /** The only operation of a policy with one, which requests needn't name. */
  readonly only: CompiledOperation | undefined
  /** Quotas of subjects without settings, plan and limits of the request. */
  readonly defaults: Quotas
  readonly #terms: LimitInputs
  readonly #ownLayers: readonly string[]
  readonly #plans: ReadonlySet<string>
  readonly #cache = emptyEntry(false)

  /** @param factorHundredths the adaptive factor; only used in mode `adaptive` */
  constructor(policy: Policy, settings: VersionedSettings, factorHundredths = 100) {
    this.settings = settings
    this.#terms = { policy, settings, factorHundredths }
    this.#ownLayers = policy.layers.filter((layer) => !layer.shared).map(({ name }) => name)
    this.#plans = new Set(planNames(policy, settings))
    this.defaults = effectiveQuotas(this.#terms)
    this.operations = new Map(Object.keys(policy.operations).map((name) => [name, compiled(policy, settings, name)]))
    this.only = this.operations.size === 1 ? this.operations.values().next().value : undefined
  }

  /**
   * Returns quotas for a subject's settings in some layers, and its request's plan and limits. The same inputs return
   * the same objects, until some part of the settings ends.
   *
   * @param clock only read if the settings have an end
   * @param unknown receives an unknown plan: each time for the request's, once per cache entry for the settings'
   */
  quotasOf(
    subjects: SettingsByLayer,
    { plan, numbers }: RequestTerms,
    clock: Clock,
    unknown: (plan: string, of: 'request' | 'settings') => void,
  ): Quotas {
    const entry = this.#entryOf(subjects)
    // Unknown plans share one entry, so that names in requests can't fill the memory.
    const isUnknown = plan !== undefined && !this.#plans.has(plan)
    if (isUnknown) unknown(plan, 'request')
    const named = isUnknown ? undefined : plan
    const now = entry.ends ? clock.now() : 0
    const ofPlan = entry.ends ? `${this.#partsAt(subjects, now)} ${named ?? ''}` : (named ?? '')
    const key = numbers === undefined ? ofPlan : ofPlan + numbersText(numbers)
    const before = entry.quotas.get(key)
    if (before !== undefined) return before
    const quotas = this.#withEnds(subjects, { plan: named, numbers }, now)
    for (const { plan: stored } of Object.values(subjects).map((each) => inForceAt(each, now))) {
      if (stored !== null && !this.#plans.has(stored)) unknown(stored, 'settings')
    }
    // Limits of requests can be any numbers.
    if (entry.quotas.size >= MAX_QUOTAS) entry.quotas.clear()
    entry.quotas.set(key, quotas)
    return quotas
  }

  /** Returns the quotas at an instant, and those after each later end. */
  #withEnds(subjects: SettingsByLayer, terms: RequestTerms, now: number): Quotas {
    const absent = this.#ownLayers.filter((layer) => subjects[layer] === NO_KEY)
    const inForce = mapValues(subjects, (each) => inForceAt(each, now))
    const quotas = effectiveQuotas(this.#terms, { subjects: inForce, ...terms, absent })
    const ends = Object.values(subjects).flatMap(({ until }) => Object.values(until))
    const from = Math.min(...ends.map((end) => (end === null || end <= now ? Number.POSITIVE_INFINITY : end)))
    if (from === Number.POSITIVE_INFINITY) return quotas
    return { ...quotas, later: { from, quotas: this.#withEnds(subjects, terms, from) } }
  }

  #entryOf(subjects: SettingsByLayer): CacheEntry {
    let entry = this.#cache
    for (const layer of this.#ownLayers) {
      const settings = ownOf(subjects, layer)
      let next = entry.next.get(settings ?? NO_SETTINGS)
      if (next === undefined) {
        const hasEnd = Object.values(settings?.until ?? {}).some((end) => end !== null)
        next = emptyEntry(entry.ends || hasEnd)
        entry.next.set(settings ?? NO_SETTINGS, next)
      }
      entry = next
    }
    return entry
  }

  /** Encodes which parts of a subject's settings apply now, three characters per layer. */
  #partsAt(subjects: SettingsByLayer, now: number): string {
    const parts = this.#ownLayers.map((layer) => {
      const until = ownOf(subjects, layer)?.until
      return until === undefined ? '-' : PARTS.map((part) => Number(isOver(until[part], now))).join('')
    })
    return parts.join('')
  }
}

function compiled(policy: Policy, settings: VersionedSettings, name: string): CompiledOperation {
  const { overrun = 'refuse', maxOverrun } = policy.operations[name]!
  const units = unitNames(policy)
  const most = overrun === 'refuse' ? undefined : maxOverrun
  return {
    name,
    set: placedLimits(policy).setOf.get(name)!,
    costs: costsOf(priceOf(policy, settings, name), takesSlot(policy, name)),
    uses: usesOf(name),
    overrun,
    maxOverrun: most === undefined ? noneOf(units) : vectorOf(units, most, noneOf(units)),
  }
}

function isOver(until: number | null, now: number): boolean {
  return until !== null && now >= until
}

/** The parts of a subject's settings that can end. */
const PARTS = ['limits', 'plan', 'blocked'] as const

/** Returns the parts of a subject's settings that apply at an instant. */
function inForceAt(settings: SubjectSettings, now: number): SubjectSettings {
  const { limits, plan, blocked, until } = settings
  return {
    ...settings,
    limits: isOver(until.limits, now) ? {} : limits,
    plan: isOver(until.plan, now) ? null : plan,
    blocked: blocked && !isOver(until.blocked, now),
  }
}
