import {
  type Clock,
  createQuota,
  type MemoryStore,
  memoryStore,
  type Quota,
  type QuotaOptions,
  type SyncQuota,
} from '../src/index.ts'
import type { SyncQuotaOptions } from '../src/internal.ts'
import { type ScoreGatewayLimit, type ScoreGatewayPolicyOptions, scoreGatewayPolicy } from '../src/score-gateway.ts'
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

/** The score gateway's limits, and operations of several prices. */
export function gatewayPolicy(
  limits: ScoreGatewayPolicyOptions<Operation>['limits'] = {},
): ReturnType<typeof scoreGatewayPolicy<Operation>> {
  return scoreGatewayPolicy<Operation>({
    operations: {
      read: { category: 'read', cost: 4 },
      write: { category: 'write', cost: 15 },
      big: { category: 'write', cost: 50 },
      free: { category: 'read', cost: 0 },
    },
    limits,
  })
}

/** The names and units of {@link gatewayPolicy}. */
export type Gateway = NonNullable<ReturnType<typeof gatewayPolicy>['counting']>
export type GatewayQuota = Quota<Operation, Gateway>
export type GatewayOptions = QuotaOptions<Operation, Gateway>
export type SyncGatewayOptions = SyncQuotaOptions<Operation, Gateway>

/** The same number for all limits of a person, and for all of the site. */
export function flatLimits(personal: number, site: number): Readonly<Record<ScoreGatewayLimit, number>> {
  const { limits } = scoreGatewayPolicy()
  const numbers = limits.map(({ name }) => [name, name.startsWith('site') ? site : personal])
  return Object.fromEntries(numbers)
}

export interface GatewayEngine<Q extends Quota<Operation, Gateway> = SyncQuota<Operation, Gateway>> {
  readonly clock: TestClock
  readonly store: MemoryStore
  readonly quota: Q
}

/** An engine over {@link gatewayPolicy} in memory, with a clock that is turned by hand. */
export function gateway(options?: Partial<SyncGatewayOptions>): GatewayEngine
export function gateway(options: Partial<GatewayOptions>): GatewayEngine<GatewayQuota>
export function gateway(options: Partial<GatewayOptions> = {}): GatewayEngine<GatewayQuota> {
  const clock = testClock()
  const store = memoryStore({ clock })
  const quota = createQuota<Operation, Gateway>({ policy: gatewayPolicy(), clock, store, ...options })
  return { clock, store, quota }
}

/** What is used of each limit of writes, in the policy's order. */
export function usedByWrites({ limits }: { readonly limits: Limits }): readonly (number | null | undefined)[] {
  const ofWrites = Object.entries(limits).filter(([name]) => name.includes('-write-'))
  return ofWrites.map(([, limit]) => limit?.used)
}

type Limits = Readonly<Record<string, { readonly used: number | null } | undefined>>

/** How much of each limit is used. */
export function usedIn({ limits }: { readonly limits: Limits }): Readonly<Record<string, number | null | undefined>> {
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit?.used]))
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
