import { type Clock, createQuota, definePolicy, type Quota } from '@scoregw/quota'
import type { UnitsOf } from '@scoregw/quota/internal'
import { manualClock } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { type RedisStore, type RedisStoreOptions, redisStore } from '../../src/index.ts'

const MANY = 1_000_000

/** Requests, tokens and money, of which tokens are scarce: everybody's are enough for 300 requests. */
const policy = definePolicy({
  limits: {
    'user-requests': { by: 'user', limit: MANY, per: '1h' },
    'user-tokens': { by: 'user', limit: MANY, of: 'tokens', per: '1h' },
    'user-money': { by: 'user', limit: MANY, of: 'money', per: '1d' },
    'all-requests': { shared: 'all', limit: MANY, per: '1h' },
    'all-tokens': { shared: 'all', limit: 3_000, of: 'tokens', per: '1h' },
    'all-money': { shared: 'all', limit: MANY, of: 'money', per: '1d' },
  },
  operations: { ask: { cost: { tokens: 10, money: 200 } }, list: {} },
})

type UnitsQuota = Quota<'ask' | 'list', UnitsOf<'requests' | 'tokens' | 'money'>>

/** An engine over three units, and its store. */
interface UnitsEngine<Store extends RedisStore> {
  readonly quota: UnitsQuota
  readonly store: Store
  /** Requests, tokens and money that a layer has used. */
  used(layer: 'user' | 'all'): Promise<readonly number[]>
}

/** An engine on the server at a port. @param open makes its store */
export function unitsEngine<Store extends RedisStore>(
  open: (options: RedisStoreOptions) => Store,
  port: number,
  prefix: string,
  testClock?: Clock,
): UnitsEngine<Store> {
  const store = open({ client: new Redis({ port, lazyConnect: true }), prefix, deadlineMs: 1_000, testClock })
  const quota = createQuota({ policy, store })
  return {
    quota,
    store,
    async used(layer) {
      const { limits } = await quota.status('u')
      const all = [limits[`${layer}-requests`], limits[`${layer}-tokens`], limits[`${layer}-money`]]
      return all.map((limit) => limit!.used)
    },
  }
}

/**
 * Takes a hold of three units by a clock that stands still, prints when it ends, and lives until it is killed.
 *
 * @public The text of the child's program imports it.
 */
export async function holdUnitsAndWait(port: number, prefix: string, now: number, ttlMs: number): Promise<void> {
  const { quota, store } = unitsEngine(redisStore, port, prefix, manualClock(now))
  await store.ready()
  const hold = await quota.reserve({ subject: 'u', operation: 'ask', ttlMs })
  process.stdout.write(`${hold.status === 'reserved' ? hold.endsAt : hold.status}\n`)
  setInterval(() => undefined, 60_000)
}
