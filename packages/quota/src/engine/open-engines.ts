import { QuotaError } from '../errors/quota-error.ts'
import { policyCells, unitOfLabel } from '../policy/cells.ts'
import type { Limit, Policy } from '../policy/policy.ts'
import { ownOf } from '../policy/values.ts'
import type { QuotaStore } from '../store/quota-store.ts'

/**
 * The open engines of this process. Two limiters may share a counter by mistake: with one store,
 * `simpleQuota({ limit: 100, per: '15m' })` for an API and `simpleQuota({ limit: 5, per: '15m' })` for log-ins do. Then six
 * API calls lock a user out.
 */

/** Open engines by the name and the limit of a counter: a {@link WeakRef} to each store. */
type OpenCounters = Map<string, Map<Limit, Set<WeakRef<QuotaStore>>>>

/** Plain data, since other copies of this package read it. An engine that isn't closed can still be collected. */
interface Register {
  readonly byStore: WeakMap<QuotaStore, OpenCounters>
  readonly byPlace: Map<string, OpenCounters>
}

/** The limit of each counter. The same counter always has the same name. */
type CounterLimits = ReadonlyMap<string, CounterLimit>

interface CounterLimit {
  readonly limit: Limit
  /** The name in messages. */
  readonly text: string
}

const REGISTER = Symbol.for('@scoregw/quota/open-engines')
/** How many engines of one limit are added before entries without a store are removed. */
const FORGET_EVERY = 64

/** Shared by every copy of the package, ESM or CommonJS. */
function register(): Register {
  const shared = globalThis as { [REGISTER]?: Register }
  shared[REGISTER] ??= { byStore: new WeakMap(), byPlace: new Map() }
  return shared[REGISTER]
}

/**
 * Registers an engine as open until you call the returned function.
 *
 * @param warn receives conflicting limits of one counter in two stores of one place
 * @throws {QuotaError} `shared_counter` if both use the same store object
 */
export function noteOpen(policy: Policy, store: QuotaStore, warn: (message: string) => void): () => void {
  const { byStore, byPlace } = register()
  const counters = countersOf(policy)
  const ofStore = byStore.get(store) ?? new Map()
  const conflict = conflictOf(ofStore, counters)
  if (conflict !== undefined) throw new QuotaError('shared_counter', conflict)
  byStore.set(store, ofStore)
  const engine = new WeakRef(store)
  const ends = [note(ofStore, counters, engine)]
  if (store.place !== undefined) {
    const ofPlace = byPlace.get(store.place) ?? new Map()
    const warning = conflictOf(ofPlace, counters)
    if (warning !== undefined) warn(warning)
    byPlace.set(store.place, ofPlace)
    ends.push(note(ofPlace, counters, engine))
  }
  return () => {
    for (const end of ends) end()
  }
}

/** The first counter that has different limits in two engines, as a sentence with a fix. */
function conflictOf(open: OpenCounters, counters: CounterLimits): string | undefined {
  for (const [name, { limit, text }] of counters) {
    for (const [other, engines] of open.get(name) ?? []) {
      if (other === limit || !hasOpen(engines)) continue
      return `two open engines count in the same counter, ${text}, with the limits ${other} and ${limit}: give each limiter a name of its own, simpleQuota({ name: 'login', .. }), or with createQuota() each policy its own layer names`
    }
  }
  return undefined
}

function hasOpen(engines: Set<WeakRef<QuotaStore>>): boolean {
  for (const engine of engines) {
    if (engine.deref() !== undefined) return true
    engines.delete(engine)
  }
  return false
}

/** @returns a function that removes the engine */
function note(open: OpenCounters, counters: CounterLimits, engine: WeakRef<QuotaStore>): () => void {
  for (const [name, { limit }] of counters) {
    const limits = open.get(name) ?? new Map<Limit, Set<WeakRef<QuotaStore>>>()
    open.set(name, limits)
    const engines = limits.get(limit) ?? new Set()
    limits.set(limit, engines)
    engines.add(engine)
    if (engines.size % FORGET_EVERY === 0)
      for (const each of engines) if (each.deref() === undefined) engines.delete(each)
  }
  return () => {
    for (const [name, { limit }] of counters) {
      const limits = open.get(name)
      limits?.get(limit)?.delete(engine)
      if (limits?.get(limit)?.size === 0) limits.delete(limit)
      if (limits?.size === 0) open.delete(name)
    }
  }
}

function countersOf(policy: Policy): CounterLimits {
  const counters = new Map<string, CounterLimit>()
  const cells = policyCells(policy)
  for (const { name: layer } of policy.layers) {
    for (const category of policy.categories) {
      for (const { identity, label } of cells) {
        const limit = ownOf(ownOf(ownOf(policy.base, layer), category), label)
        if (limit === undefined) continue
        const text = `"${label}" of ${unitOfLabel(policy, label)} in layer "${layer}", category "${category}"`
        counters.set(JSON.stringify([layer, category, identity]), { limit, text })
      }
    }
  }
  return counters
}
