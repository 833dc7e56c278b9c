import type { Limit, LimitTable, Policy, Settings, SubjectSettings } from '@scoregw/quota'
import { initialSettings, type SharedLayerSettings } from '@scoregw/quota/store'

type Tree = { readonly [name: string]: Tree | Limit | null }

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
    const known = this.#fitted.get(policy) ?? this.#fit(policy)
    this.#fitted.set(policy, known)
    return known
  }

  #fit(policy: Policy): Settings {
    const own = initialSettings(policy)
    const stored = this.#settings
    if (stored === undefined) return own
    const shared = policy.layers.filter((layer) => layer.shared)
    const layers = shared.map(({ name }): [string, SharedLayerSettings] => [
      name,
      stored.layers[name] ?? { enabled: true, multiplier: 1 },
    ])
    return {
      mode: stored.mode,
      base: laidOver(policy.base, stored.base),
      custom: stored.custom === null ? null : laidOver(policy.base, stored.custom),
      layers: Object.fromEntries(layers),
      prices: among(stored.prices, (operation) => Object.hasOwn(policy.operations, operation)),
      shadow: shadowOf(policy, stored.shadow),
      plans: stored.plans,
      thresholds: stored.thresholds,
    }
  }

  /** Replaces members of the settings, as a policy sees them. */
  update(policy: Policy, change: Partial<Settings>): void {
    const next = { ...this.settings(policy), ...change }
    const stored = this.#settings ?? next
    this.#version++
    this.#fitted = new Map()
    this.#settings = {
      mode: next.mode,
      base: united(stored.base, next.base),
      custom: next.custom === null ? null : united(stored.custom ?? {}, next.custom),
      layers: { ...stored.layers, ...next.layers },
      prices: { ...among(stored.prices, (name) => !Object.hasOwn(policy.operations, name)), ...next.prices },
      shadow: shadowBeside(policy, stored.shadow, next.shadow),
      plans: united(stored.plans, next.plans),
      thresholds: next.thresholds,
    }
  }

  /** Returns a subject's stored settings as a policy sees them. */
  subject(policy: Policy, layer: string, key: string): SubjectSettings | undefined {
    const stored = this.#subjects.get(JSON.stringify([layer, key]))
    if (stored === undefined) return undefined
    return { ...stored, bypass: stored.bypass.filter((name) => isShared(policy, name)) }
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
    if (next === undefined) {
      this.#subjects.delete(name)
      const anchor = changedAnchor(stored?.anchor ?? null, null, now)
      if (anchor !== null) this.#subjects.set(name, { ...NOTHING_SET, anchor })
      return
    }
    const none = Object.fromEntries(policy.windows.map(({ label }) => [label, null]))
    const overrides = Object.fromEntries(
      policy.categories.map((category) => [category, { ...none, ...next.overrides[category] }]),
    )
    const unknown = (stored?.bypass ?? []).filter((each) => !isShared(policy, each))
    this.#subjects.set(name, {
      ...next,
      overrides: united(stored?.overrides ?? {}, overrides),
      bypass: [...next.bypass, ...unknown],
      anchor: changedAnchor(stored?.anchor ?? null, next.anchor, now),
    })
  }
}

type Anchor = SubjectSettings['anchor']

const NOTHING_SET: Omit<SubjectSettings, 'anchor'> = {
  overrides: {},
  bypass: [],
  plan: null,
  until: { overrides: null, plan: null },
}

/** An anchor with its complete history. */
function changedAnchor(stored: Anchor, set: Anchor, now: number): Anchor {
  const ruleOf = ({ month = 1, day = 1, time = '00:00' }: NonNullable<Anchor>): string => `${month}-${day} ${time}`
  if (stored === null) return set
  if (ruleOf(stored) === ruleOf(set ?? {})) return stored
  return { ...set, was: stored, changedAt: now }
}

type Shadow = Settings['shadow']

function labelsOf({ windows, concurrency }: Policy): readonly string[] {
  return [...windows.map(({ label }) => label), ...(concurrency === undefined ? [] : [concurrency.label])]
}

/** The shadowed limits that a policy knows. */
function shadowOf(policy: Policy, stored: Shadow): Shadow {
  const known = labelsOf(policy)
  const layers = policy.layers.flatMap(({ name }): [string, Shadow[string]][] => {
    const limits = stored[name]
    if (limits === undefined) return []
    return [[name, limits === 'all' ? limits : limits.filter((label) => known.includes(label))]]
  })
  return Object.fromEntries(layers)
}

/** Replaces the limits that a policy knows, and keeps the others. */
function shadowBeside(policy: Policy, stored: Shadow, next: Shadow): Shadow {
  const known = labelsOf(policy)
  const layers = Object.entries(next).map(([name, limits]): [string, Shadow[string]] => {
    const before = stored[name] ?? []
    const others = before === 'all' ? [] : before.filter((label) => !known.includes(label))
    return [name, limits === 'all' ? limits : [...limits, ...others]]
  })
  return { ...stored, ...Object.fromEntries(layers) }
}

function isShared({ layers }: Policy, name: string): boolean {
  return layers.some((layer) => layer.shared && layer.name === name)
}

/** A table's own limits, and those of the stored table that it doesn't have. */
function laidOver(own: LimitTable, stored: LimitTable): LimitTable {
  return mapTable(own, (layer, category, label, limit) => stored[layer]?.[category]?.[label] ?? limit)
}

function mapTable(
  table: LimitTable,
  map: (layer: string, category: string, label: string, limit: Limit) => Limit,
): LimitTable {
  return each(table, (layer, ofLayer) =>
    each(ofLayer, (category, ofCategory) => each(ofCategory, (label, limit) => map(layer, category, label, limit))),
  )
}

function each<T, U>(record: Readonly<Record<string, T>>, map: (name: string, value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(name, value)]))
}

function among<T>(record: Readonly<Record<string, T>>, has: (name: string) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => has(name)))
}

/** Merges two trees. If both have a value, the second wins. */
function united<T extends Tree>(below: T, above: T): T {
  const names = [...new Set([...Object.keys(below), ...Object.keys(above)])]
  const value = (name: string): Tree[string] | undefined => {
    const [low, high] = [below[name], above[name]]
    if (high === undefined) return low
    return isTree(low) && isTree(high) ? united(low, high) : high
  }
  return Object.fromEntries(names.map((name) => [name, value(name)])) as T
}

function isTree(value: Tree[string] | undefined): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
