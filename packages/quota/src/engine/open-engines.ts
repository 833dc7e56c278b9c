import { QuotaError, QuotaWarning } from '../errors/quota-error.ts'
import type { QuotaLogger } from '../options/logger.ts'
import { placedLimits } from '../policy/cells.ts'
import type { Limit, Policy } from '../policy/policy.ts'
import type { QuotaStore } from '../store/quota-store.ts'

/**
 * Finds limiters of this process that share a counter by mistake. For example, one engine limits an API to 100
 * requests and another limits logins to 5, in the same store and by the same name. Six API calls then lock a user out.
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

/**
 * Registers an open engine until you call the returned function.
 *
 * @param warn receives a warning if two stores on the same data have different limits for a counter, or if two engines
 * with different policies share one by the same name and number
 * @throws {QuotaError} `shared_counter` for different limits if both engines use the same store object
 */
export function noteOpen(policy: Policy, store: QuotaStore, warn: (message: string) => void): () => void {
  const { byStore, byPlace } = register()
  const counters = countersOf(policy)
  const ofStore = byStore.get(store) ?? new Map()
  const conflict = conflictOf(ofStore, counters)
  if (conflict !== undefined) throw new QuotaError('shared_counter', conflict)
  byStore.set(store, ofStore)
  let warning = sharedOf(ofStore, counters, policy)
  const reference = new WeakRef(store)
  const ends = [note(ofStore, counters, reference)]
  if (store.place !== undefined) {
    const ofPlace = byPlace.get(store.place) ?? new Map()
    warning = conflictOf(ofPlace, counters) ?? warning
    byPlace.set(store.place, ofPlace)
    ends.push(note(ofPlace, counters, reference))
  }
  if (warning !== undefined) warn(warning)
  return () => {
    for (const end of ends) end()
  }
}

/**
 * The limits of policies whose engines are open or were, by counter; `reported`: two of them share it, and a message has said so.
 * Engines of one policy, or of its copy with other answers, share counters on purpose.
 */
const SEEN = new WeakMap<OpenCounters, Map<string, WeakRef<Policy['limits']> | 'reported'>>()

/**
 * Finds a counter that another policy's engine has, too, with the same limit. Returns a message with the fix, once for a
 * counter: an application may make an engine for each request.
 */
function sharedOf(open: OpenCounters, counters: CounterLimits, policy: Policy): string | undefined {
  const seen = SEEN.get(open) ?? new Map<string, WeakRef<Policy['limits']> | 'reported'>()
  SEEN.set(open, seen)
  let message: string | undefined
  for (const [name, { limit, text }] of counters) {
    const last = seen.get(name)
    if (last === 'reported') continue
    const other = last?.deref()
    const engines = open.get(name)?.get(limit)
    const isShared = other !== undefined && other !== policy.limits && engines !== undefined && hasOpen(engines)
    seen.set(name, isShared ? 'reported' : new WeakRef(policy.limits))
    if (!isShared) continue
    message ??= `shared_counter: two open engines count in the same counter, ${text}: if they aren't meant to share it, rename the limit of one of them`
  }
  return message
}

/** Finds a counter with different limits in two engines. Returns a message with the fix. */
function conflictOf(open: OpenCounters, counters: CounterLimits): string | undefined {
  for (const [name, { limit, text }] of counters) {
    for (const [other, engines] of open.get(name) ?? []) {
      if (other === limit || !hasOpen(engines)) continue
      return `two open engines count in the same counter, ${text}, with the limits ${other} and ${limit}: rename the limits of one of them`
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
  return new Map(
    placedLimits(policy).limits.map(({ rule: { name, limit, unit }, ofLayer, identity }) => {
      const text = `"${name}" of ${unit} in layer "${ofLayer.name}"`
      return [JSON.stringify([ofLayer.name, identity]), { limit, text }]
    }),
  )
}

/**
 * Finds engines that are made for each request. Each has counters of its own in memory, which are lost with it, so it
 * never limits anything. Programs and tests that make some engines and drop them stay below this number.
 */
const MANY_LOST = 1_000

type Logger = Pick<QuotaLogger, 'warn'>

let lost = 0

/** Absent in runtimes that don't report collected objects. */
const collected =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : /* @__PURE__ */ new FinalizationRegistry<Logger>((logger) => wasLost(logger))

function wasLost(logger: Logger): void {
  lost++
  if (lost !== MANY_LOST) return
  const message = `${MANY_LOST} engines with counters in memory were dropped without close(). An engine per request never limits: make it once, outside of the handler, or close those that you replace`
  logger.warn(new QuotaWarning('engine_per_request', message))
}

/**
 * Watches an open engine's counters in memory. Whatever calls `logger` must not keep them alive.
 *
 * @returns a function that ends it
 */
export function watchCounters(store: QuotaStore, logger: Logger): () => void {
  // Counters on a server or in a file outlive their store.
  if (collected === undefined || !('snapshot' in store)) return () => undefined
  const token = {}
  collected.register(store, logger, token)
  return () => void collected.unregister(token)
}
