import { type Clock, createQuota, definePolicy, type Quota, type UnitsOf } from '@scoregw/quota'
import { manualClock } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { type RedisStore, type RedisStoreOptions, redisStore } from '../../src/index.ts'

const MANY = 1_000_000

/** Requests, tokens and money, of which tokens are scarce: everybody's are enough for 300 requests. */
const policy = definePolicy({
  units: ['requests', 'tokens', 'money'],
  windows: [
    { label: '1h', unit: 'requests' },
    { label: 'tokens', per: '1h', unit: 'tokens' },
    { label: 'budget', per: '1d', unit: 'money' },
  ],
  categories: ['ask'],
  layers: [{ name: 'user' }, { name: 'all', shared: true }],
  operations: {
    ask: { category: 'ask', cost: { requests: 1, tokens: 10, money: 200 } },
    list: { category: 'ask', cost: { requests: 1 } },
  },
  base: {
    user: { ask: { '1h': MANY, tokens: MANY, budget: MANY } },
    all: { ask: { '1h': MANY, tokens: 3_000, budget: MANY } },
  },
})

type UnitsQuota = Quota<'ask' | 'list', UnitsOf<'requests' | 'tokens' | 'money'>>

/** An engine over three units, and its store. */
interface UnitsEngine<Store extends RedisStore> {
  readonly quota: UnitsQuota
  readonly store: Store
  /** Requests, tokens and money that a layer has used. */
  used(layer: 'user' | 'all'): Promise<readonly number[] | undefined>
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
      const { windows } = await quota.status('u')
      return windows.ask?.filter((window) => window.layer === layer).map((window) => window.used)
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
