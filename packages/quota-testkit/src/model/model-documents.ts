import type { Policy, Settings, SubjectSettings } from '@scoregw/quota'
import type { LimitNumber, LimitRule } from '@scoregw/quota/internal'
import { layerOf } from './model-names.ts'

type ByName<T> = Readonly<Record<string, T>>

/**
 * The stored settings, seen by each policy. What a policy doesn't know is kept but not in force. What isn't stored
 * follows the policy.
 */
export class ModelDocuments {
  #version = 0
  #settings: Settings | undefined
  readonly #subjects = new Map<string, SubjectSettings>()
  /** The stored settings by policy, as it sees them. */
  #fitted = new Map<Policy, Settings>()

  get version(): number {
    return this.#version
  }

  /** Returns the stored settings as a policy sees them. */
  settings(policy: Policy): Settings {
    const known = this.#fitted.get(policy) ?? fitted(policy, this.#settings)
    this.#fitted.set(policy, known)
    return known
  }

  /** Changes members of the settings, as a policy sees them: of objects by name, only the names that are there. */
  update(policy: Policy, change: ModelChange): void {
    const before = this.settings(policy)
    const { shadow = {}, ...replaced } = change
    const next = { ...before, ...replaced }
    const stored = this.#settings ?? before
    const plans = [...Object.keys(stored.plans), ...Object.keys(next.plans)]
    this.#version++
    this.#fitted = new Map()
    this.#settings = {
      mode: next.mode,
      limits: { ...stored.limits, ...before.limits, ...next.limits },
      custom: next.custom && { ...stored.custom, ...before.custom, ...next.custom },
      shared: { ...stored.shared, ...next.shared },
      prices: { ...among(stored.prices, (name) => !Object.hasOwn(policy.operations, name)), ...next.prices },
      shadow: withoutRemoved(policy, { ...stored.shadow, ...before.shadow, ...shadow }),
      plans: Object.fromEntries(
        plans.map((plan) => [plan, { ...stored.plans[plan], ...before.plans[plan], ...next.plans[plan] }]),
      ),
      thresholds: next.thresholds,
    }
  }

  /** Returns a subject's stored settings as a policy sees them. */
  subject(policy: Policy, layer: string, key: string): SubjectSettings | undefined {
    const stored = this.#subjects.get(JSON.stringify([layer, key]))
    if (stored === undefined) return undefined
    const own = policy.limits.filter((rule) => layerOf(policy, rule).name === layer)
    return {
      ...stored,
      limits: byRule(own, stored.limits),
      bypass: among(stored.bypass, (name) => isShared(policy, name)),
    }
  }

  /**
   * @param next `undefined`: removed, but for what keeps the next anchor from being a first one
   * @param now a changed anchor counts from the period after this instant
   */
  setSubject(
    policy: Policy,
    of: readonly [layer: string, key: string],
    next: SubjectSettings | undefined,
    now: number,
  ): void {
    const name = JSON.stringify(of)
    const stored = this.#subjects.get(name)
    const anchor = changedAnchor(stored?.anchor ?? null, next?.anchor ?? null, now)
    if (next === undefined) {
      this.#subjects.delete(name)
      if (anchor !== null) this.#subjects.set(name, { ...NOTHING_SET, anchor })
      return
    }
    const own = policy.limits.filter((rule) => layerOf(policy, rule).name === of[0])
    const none = Object.fromEntries(own.map((rule) => [rule.name, null]))
    this.#subjects.set(name, {
      ...next,
      limits: { ...stored?.limits, ...none, ...next.limits },
      bypass: { ...among(stored?.bypass ?? {}, (each) => !isShared(policy, each)), ...next.bypass },
      anchor,
    })
  }
}

/** A change of the settings. `null` removes what is stored. */
export type ModelChange = Partial<Omit<Settings, 'shadow'>> & {
  readonly shadow?: ByName<boolean | null>
}

/** What was removed under a limit's name is gone under its former name, too. */
function withoutRemoved(policy: Policy, values: ByName<boolean | null>): Record<string, boolean> {
  const removed = policy.limits.flatMap(({ name, formerly = name }) => (values[name] === null ? [name, formerly] : []))
  const left = Object.entries(values).filter((entry): entry is [string, boolean] => !removed.includes(entry[0]))
  return Object.fromEntries(left)
}

/** Stored settings as a policy sees them; without any, its own. */
function fitted(policy: Policy, stored: Settings | undefined): Settings {
  const { limits, layers, operations } = policy
  const own = limits.filter((rule) => !layerOf(policy, rule).shared)
  const on = { enabled: true, multiplier: 1 }
  const shared = layers.flatMap((layer) =>
    layer.shared ? [[layer.name, stored?.shared[layer.name] ?? on] as const] : [],
  )
  const plans = Object.entries(stored?.plans ?? {}).map(([plan, numbers]) => [plan, byRule(own, numbers)] as const)
  const numbers = Object.fromEntries(limits.map(({ name, limit }): [string, LimitNumber] => [name, limit]))
  return {
    mode: stored?.mode ?? 'normal',
    limits: { ...numbers, ...byRule(limits, stored?.limits ?? {}) },
    custom: stored === undefined || stored.custom === null ? null : byRule(limits, stored.custom),
    shared: Object.fromEntries(shared),
    prices: among(stored?.prices ?? {}, (operation) => Object.hasOwn(operations, operation)),
    shadow: byRule(limits, stored?.shadow ?? {}),
    plans: Object.fromEntries(plans),
    thresholds: stored?.thresholds ?? null,
  }
}

type Anchor = SubjectSettings['anchor']

const NOTHING_SET: Omit<SubjectSettings, 'anchor'> = {
  limits: {},
  bypass: {},
  plan: null,
  blocked: false,
  until: { limits: null, plan: null, blocked: null },
}

/** An anchor with its complete history. */
function changedAnchor(stored: Anchor, set: Anchor, now: number): Anchor {
  const ruleOf = ({ month = 1, day = 1, time = '00:00' }: NonNullable<Anchor>): string => `${month}-${day} ${time}`
  if (stored === null) return set
  if (ruleOf(stored) === ruleOf(set ?? {})) return stored
  return { ...set, was: stored, changedAt: now }
}

function isShared({ layers }: Policy, name: string): boolean {
  return layers.some((layer) => layer.shared && layer.name === name)
}

/** The values of some limits: under their names, else under those that they had before. */
function byRule<T>(rules: readonly LimitRule[], stored: ByName<T>): Record<string, T> {
  const found = rules.flatMap(({ name, formerly = name }): [string, T][] =>
    [name, formerly]
      .flatMap((each): [string, T][] => (Object.hasOwn(stored, each) ? [[name, stored[each] as T]] : []))
      .slice(0, 1),
  )
  return Object.fromEntries(found)
}

function among<T>(record: ByName<T>, has: (name: string) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => has(name)))
}
