import { QuotaError } from '../errors/quota-error.ts'
import { policyCells, unitOfLabel } from '../policy/cells.ts'
import type { Limit, Policy } from '../policy/policy.ts'
import { ownOf } from '../policy/values.ts'
import type { QuotaStore } from '../store/quota-store.ts'

/**
 * Finds limiters of this process that share a counter by mistake. For example, one `simpleQuota()` limits an API to 100
 * requests and another limits logins to 5, in the same store and without names. Six API calls then lock a user out.
 */

/** Stores of open engines, by a counter's name and limit. */
type OpenCounters = Map<string, Map<Limit, Set<WeakRef<QuotaStore>>>>

/** Plain data, because other copies of this package read it. Weak references let unclosed engines be collected. */
interface Register {
  readonly byStore: WeakMap<QuotaStore, OpenCounters>
  readonly byPlace: Map<string, OpenCounters>
}

/** The limit of each counter by name. The same counter has the same name in every policy. */
type CounterLimits = ReadonlyMap<string, CounterLimit>

interface CounterLimit {
  readonly limit: Limit
  /** The entry of a limiter without a name. Such limiters have two entries per counter. */
  readonly isUnnamed: boolean
  /** The counter's name for messages. */
  readonly text: string
}

const REGISTER = Symbol.for('@scoregw/quota/open-engines')
/** After this many engines with one limit, entries of collected stores are removed. */
const FORGET_EVERY = 64

/** The register that all copies of the package share, ESM or CommonJS. */
function register(): Register {
  const shared = globalThis as { [REGISTER]?: Register }
  shared[REGISTER] ??= { byStore: new WeakMap(), byPlace: new Map() }
  return shared[REGISTER]
}

/** An engine that opens. */
export interface OpeningEngine {
  readonly policy: Policy
  /** Whether it is a limiter without a name. */
  readonly isUnnamed: boolean
}

/**
 * Registers an open engine until you call the returned function.
 *
 * @param warn receives a warning if two stores on the same data have different limits for a counter, or if limiters share
 * a counter because they have no name
 * @throws {QuotaError} `shared_counter` for different limits if both engines use the same store object
 */
export function noteOpen(engine: OpeningEngine, store: QuotaStore, warn: (message: string) => void): () => void {
  const { byStore, byPlace } = register()
  const counters = countersOf(engine)
  const ofStore = byStore.get(store) ?? new Map()
  const conflict = conflictOf(ofStore, counters)
  if (conflict !== undefined) throw new QuotaError('shared_counter', conflict)
  byStore.set(store, ofStore)
  let warning = unnamedTwice(ofStore, counters)
  const reference = new WeakRef(store)
  const ends = [note(ofStore, counters, reference)]
  if (store.place !== undefined) {
    const ofPlace = byPlace.get(store.place) ?? new Map()
    warning ??= conflictOf(ofPlace, counters) ?? unnamedTwice(ofPlace, counters)
    byPlace.set(store.place, ofPlace)
    ends.push(note(ofPlace, counters, reference))
  }
  if (warning !== undefined) warn(warning)
  return () => {
    for (const end of ends) end()
  }
}

/** Finds a counter with different limits in two engines. Returns a message with the fix. */
function conflictOf(open: OpenCounters, counters: CounterLimits): string | undefined {
  for (const [name, { limit, text }] of counters) {
    for (const [other, engines] of open.get(name) ?? []) {
      if (other === limit || !hasOpen(engines)) continue
      return `two open engines count in the same counter, ${text}, with the limits ${other} and ${limit}: give each limiter a name of its own, simpleQuota({ name: 'login', .. }), or with createQuota() each policy its own layer names`
    }
  }
  return undefined
}

/** The first counter that another limiter without a name has, as a sentence with a fix. */
function unnamedTwice(open: OpenCounters, counters: CounterLimits): string | undefined {
  for (const [name, { limit, isUnnamed, text }] of counters) {
    const engines = open.get(name)?.get(limit)
    if (!isUnnamed || engines === undefined || !hasOpen(engines)) continue
    return `two limiters without a name share the counter ${text}: give each a name of its own, simpleQuota({ name: 'login', .. }), or close the one that this one replaces`
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

function countersOf({ policy, isUnnamed }: OpeningEngine): CounterLimits {
  const counters = new Map<string, CounterLimit>()
  const cells = policyCells(policy)
  for (const { name: layer } of policy.layers) {
    for (const category of policy.categories) {
      for (const { identity, label } of cells) {
        const limit = ownOf(ownOf(ownOf(policy.base, layer), category), label)
        if (limit === undefined) continue
        const text = `"${label}" of ${unitOfLabel(policy, label)} in layer "${layer}", category "${category}"`
        counters.set(JSON.stringify([layer, category, identity]), { limit, isUnnamed: false, text })
        if (isUnnamed) counters.set(JSON.stringify([category, identity]), { limit, isUnnamed, text })
      }
    }
  }
  return counters
}
