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

/** One open engine. Plain data, since another copy of this package may read it. */
interface OpenEngine {
  /** Not kept alive: programs that never close an engine let go of it. */
  readonly store: WeakRef<QuotaStore>
  /** The limit of each counter, by a name that is the same for the same counter. */
  readonly counters: ReadonlyMap<string, CounterLimit>
}

interface CounterLimit {
  readonly limit: Limit
  /** What people call it. */
  readonly text: string
}

const REGISTER = Symbol.for('@scoregw/quota/open-engines')

/** Every copy of the package, ESM or CommonJS, has the same set. */
function openEngines(): Set<OpenEngine> {
  const shared = globalThis as { [REGISTER]?: Set<OpenEngine> }
  shared[REGISTER] ??= new Set()
  return shared[REGISTER]
}

/**
 * Notes an engine as open until the returned function is called.
 *
 * @param warn receives conflicting limits of one counter in two stores of one place
 * @throws {QuotaError} `shared_counter` when both use the same store object
 */
export function noteOpen(policy: Policy, store: QuotaStore, warn: (message: string) => void): () => void {
  const open = openEngines()
  const counters = countersOf(policy)
  for (const other of open) {
    const otherStore = other.store.deref()
    if (otherStore === undefined) open.delete(other)
    else if (isOnePlace(store, otherStore)) {
      const conflict = conflictOf(counters, other.counters)
      if (conflict !== undefined && store === otherStore) throw new QuotaError('shared_counter', conflict)
      if (conflict !== undefined) warn(conflict)
    }
  }
  const engine: OpenEngine = { store: new WeakRef(store), counters }
  open.add(engine)
  return () => void open.delete(engine)
}

function isOnePlace(store: QuotaStore, other: QuotaStore): boolean {
  return store === other || (store.place !== undefined && store.place === other.place)
}

/** The first counter that two engines have with different limits, in a sentence that says what to do. */
function conflictOf(counters: OpenEngine['counters'], others: OpenEngine['counters']): string | undefined {
  for (const [name, { limit, text }] of counters) {
    const other = others.get(name)
    if (other === undefined || other.limit === limit) continue
    return `two open engines count in the same counter, ${text}, with the limits ${other.limit} and ${limit}: give each limiter a name of its own, simpleQuota({ name: 'login', .. }), or with createQuota() each policy its own layer names`
  }
  return undefined
}

function countersOf(policy: Policy): OpenEngine['counters'] {
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
