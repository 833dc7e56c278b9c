import type { Limit, LimitTable, Policy, Settings, SubjectSettings } from '@scoregw/quota'
import { initialSettings, type SharedLayerSettings } from '@scoregw/quota/store'

type Tree = { readonly [name: string]: Tree | Limit | null }

/**
 * The stored settings, under whichever policy they were written: what a policy does not know stays in them and is not in
 * force, and what they do not have follows the policy.
 */
export class ModelDocuments {
  #version = 0
  #settings: Settings | undefined
  readonly #subjects = new Map<string, SubjectSettings>()

  get version(): number {
    return this.#version
  }

  /** The stored settings as a policy takes them. */
  settings(policy: Policy): Settings {
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
    }
  }

  /** Replaces the named members of the settings as the policy takes them. */
  update(policy: Policy, change: Partial<Settings>): void {
    const next = { ...this.settings(policy), ...change }
    const stored = this.#settings ?? next
    this.#version++
    this.#settings = {
      mode: next.mode,
      base: united(stored.base, next.base),
      custom: next.custom === null ? null : united(stored.custom ?? {}, next.custom),
      layers: { ...stored.layers, ...next.layers },
      prices: { ...among(stored.prices, (name) => !Object.hasOwn(policy.operations, name)), ...next.prices },
    }
  }

  /** A subject's stored settings as a policy takes them. */
  subject(policy: Policy, layer: string, key: string): SubjectSettings | undefined {
    const stored = this.#subjects.get(JSON.stringify([layer, key]))
    if (stored === undefined) return undefined
    return { overrides: stored.overrides, bypass: stored.bypass.filter((name) => isShared(policy, name)) }
  }

  setSubject(policy: Policy, layer: string, key: string, next: SubjectSettings | undefined): void {
    const name = JSON.stringify([layer, key])
    const stored = this.#subjects.get(name)
    if (next === undefined) {
      this.#subjects.delete(name)
      return
    }
    const none = Object.fromEntries(policy.windows.map(({ label }) => [label, null]))
    const overrides = Object.fromEntries(
      policy.categories.map((category) => [category, { ...none, ...next.overrides[category] }]),
    )
    const unknown = (stored?.bypass ?? []).filter((each) => !isShared(policy, each))
    this.#subjects.set(name, {
      overrides: united(stored?.overrides ?? {}, overrides),
      bypass: [...next.bypass, ...unknown],
    })
  }
}

function isShared({ layers }: Policy, name: string): boolean {
  return layers.some((layer) => layer.shared && layer.name === name)
}

/** The limits of a table under the names of another, and those of the other where it has none. */
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

/** All that either has; where both have a value, the second's. */
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
  return typeof value === 'object' && value !== null
}
