import { type Clock, createQuota, memoryStore, type Policy, parsePolicy, type Quota } from '@scoregw/quota'
import type { QuotaStore } from '@scoregw/quota/store'
import { type RedisStore, redisStore } from '@scoregw/quota-redis'
import type { TortureLimiter, TortureLimits, TortureRequest } from '@scoregw/quota-testkit/torture'
import type { Redis } from 'ioredis'
import type { Time } from './time.ts'

const HOLD_MS = 5_000

/** An engine, and the store that it shares with its successors. */
interface Ours {
  readonly quota: Quota
  readonly store: QuotaStore
}

/** This project's engine, with a new store per instance. */
function oursOn(
  makeStore: () => QuotaStore,
  advance: (ms: number) => Promise<void>,
  clock?: Clock,
): TortureLimiter<Ours> {
  const requestOf = ({ subject, cost }: TortureRequest) => ({ subject, operation: 'work', cost })
  return {
    async make(limits, over) {
      const store = over === undefined ? makeStore() : asInAnotherProcess(over.store)
      return { store, quota: createQuota({ policy: policyOf(limits), store, clock }) }
    },
    async consume({ quota }, request) {
      const decision = await quota.consume(requestOf(request))
      if (decision.allowed) return { allowed: true }
      return { allowed: false, retryAfterMs: (decision.retryAfterSeconds ?? 0) * 1_000 }
    },
    async retry({ quota }, request, id) {
      const reservation = await quota.reserve({ ...requestOf(request), id })
      if (reservation.status === 'reserved') await reservation.commit()
      return { allowed: reservation.status === 'reserved' || reservation.status === 'duplicate' }
    },
    async kill({ quota }, request) {
      // Nothing keeps the hold's handle, so nothing settles it.
      await quota.reserve({ ...requestOf(request), ttlMs: HOLD_MS })
      return HOLD_MS
    },
    advance,
  }
}

/** A separate object for the same counters. Two policies on one object are an error. */
function asInAnotherProcess(store: QuotaStore): QuotaStore {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

/** Our engine in memory. */
export function oursInMemory(advance: (ms: number) => Promise<void>, clock?: Clock): TortureLimiter<Ours> {
  return oursOn(() => memoryStore({ maxSubjects: 2_000_000, clock }), advance, clock)
}

function policyOf(limits: TortureLimits): Policy {
  const named = limits.map(({ limit, windowMs }) => [`per${windowMs}`, { by: 'user', limit, per: `${windowMs}ms` }])
  return parsePolicy({ limits: Object.fromEntries(named), operations: { work: {} } })
}

let prefixes = 0

/** Our engine on Redis, with a new prefix per instance. Who closes the stores gives a list that they are put in. */
export function oursOnRedis(
  client: Redis,
  { advance, testClock, opened = [] }: Pick<Time, 'advance'> & { testClock?: Clock; opened?: RedisStore[] },
): TortureLimiter<Ours> {
  const open = (): RedisStore => {
    const store = redisStore({ client, prefix: `torture${prefixes++}`, testClock })
    opened.push(store)
    return store
  }
  return oursOn(open, advance, testClock)
}

/** Our engine, on Redis if there is one, as for other libraries. */
export function ours({ advance }: Time, redis?: Redis): TortureLimiter<Ours> {
  return redis === undefined ? oursInMemory(advance) : oursOnRedis(redis, { advance })
}
