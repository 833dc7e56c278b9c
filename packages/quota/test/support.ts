import {
  type Clock,
  createQuota,
  defaultPolicy,
  type LimitTable,
  type MemoryStore,
  memoryStore,
  type Policy,
  type Quota,
  type QuotaOptions,
  type SyncQuota,
  type SyncQuotaOptions,
} from '../src/index.ts'
import type { AsyncStore, SyncStore } from '../src/store.ts'

/** A clock turned by hand. */
export interface TestClock extends Clock {
  at: number
}

/** 2026-08-06T14:06:26Z: one hour before the instant of the documented example. */
export const START: number = Date.UTC(2026, 7, 6, 14, 6, 26)
export const HOUR = 3_600_000

export function testClock(at: number = START): TestClock {
  return {
    at,
    now() {
      return this.at
    },
  }
}

export type Operation = 'read' | 'write' | 'big' | 'free'

export function testPolicy(base?: LimitTable): Policy<Operation> {
  return defaultPolicy({
    operations: {
      read: { category: 'read', cost: 4 },
      write: { category: 'write', cost: 15 },
      big: { category: 'write', cost: 50 },
      free: { category: 'read', cost: 0 },
    },
    ...(base === undefined ? {} : { base }),
  })
}

/** The same limit in every window of a layer and category. */
export function flatBase(personal: number, site: number): LimitTable {
  const windows = (limit: number): Record<string, number> => ({ '1h': limit, '5h': limit, '1d': limit })
  const layer = (limit: number): Record<string, Record<string, number>> => ({
    read: windows(limit),
    write: windows(limit),
  })
  return { personal: layer(personal), site: layer(site) }
}

export interface Fixture<Q extends Quota<Operation> = SyncQuota<Operation>> {
  readonly clock: TestClock
  readonly store: MemoryStore
  readonly quota: Q
}

export function fixture(options?: Partial<SyncQuotaOptions<Operation>>): Fixture
export function fixture(options: Partial<QuotaOptions<Operation>>): Fixture<Quota<Operation>>
export function fixture(options: Partial<QuotaOptions<Operation>> = {}): Fixture<Quota<Operation>> {
  const clock = testClock()
  const store = memoryStore({ clock })
  const quota = createQuota<Operation>({ policy: testPolicy(), clock, store, ...options })
  return { clock, store, quota }
}

/** The same counters as another process sees them, whose policy may have other limits. */
export function asAnotherProcess(store: MemoryStore): SyncStore {
  return { sync: true, can: store.can, clock: store.clock, open: (schema, clock) => store.open(schema, clock) }
}

/** A memory store that answers with promises, each call waiting for `gate`. */
export function asyncStore(store: MemoryStore, gate: () => Promise<void> = () => Promise.resolve()): AsyncStore {
  return {
    sync: false,
    can: store.can,
    open(schema) {
      const counters = store.open(schema)
      const { holds } = counters
      return {
        take: (request) => gate().then(() => counters.take(request)),
        read: (request) => gate().then(() => counters.read(request)),
        settle: (request) => gate().then(() => counters.settle(request)),
        reset: (request) => gate().then(() => counters.reset(request)),
        holds: holds && {
          extend: (request) => gate().then(() => holds.extend(request)),
          grow: (request) => gate().then(() => holds.grow(request)),
          settle: (request) => gate().then(() => holds.settle(request)),
          list: (request) => gate().then(() => holds.list(request)),
          sweep: () => gate().then(() => holds.sweep()),
        },
      }
    },
  }
}
