import { createQuota, defaultPolicy, type LimitTable, type Policy } from '@scoregw/quota'
import { MAX_LIMIT, storeSchema } from '@scoregw/quota/store'
import { redisStore } from '@scoregw/quota-redis'
import { type LeasedRedisStore, leasedRedisStore } from '@scoregw/quota-redis/leases'
import { Cluster } from 'ioredis'
import type { Decider } from '../deciders/decider.ts'

/** Tokens per decision. */
const COST = 15
const ONE_KEY = "return redis.call('INCRBY', KEYS[1], ARGV[1])"

/** A decider on a cluster. */
export interface ClusterDecider extends Decider {
  /** Set if it spends from leases. */
  readonly store?: LeasedRedisStore
}

export type Seeds = readonly { readonly host: string; readonly port: number }[]

const SCRIPT = 'script on one key'
export const LEASED = 'quota, leased: six counters'
export const LOCAL = 'quota, leased: the site alone'

/** All deciders. The others are compared with the first. */
export function deciders(seeds: Seeds): ClusterDecider[] {
  return [script(seeds), leased(seeds, 'leased', MAX_LIMIT), exact(seeds)]
}

/** A counter per user, in one script call, auto-pipelined by the client. */
function script(seeds: Seeds): ClusterDecider {
  const client = new Cluster([...seeds], {
    enableAutoPipelining: true,
    scripts: { add: { lua: ONE_KEY, numberOfKeys: 1 } },
  })
  const add = (client as unknown as { add(key: string, tokens: number): Promise<number> }).add.bind(client)
  return {
    name: SCRIPT,
    admit: async (user) => (await add(user, COST)) > 0,
    stop: () => client.disconnect(),
  }
}

function engine(store: ReturnType<typeof redisStore>, policy: Policy): Pick<Decider, 'admit' | 'stop'> {
  const quota = createQuota({ policy, store })
  return {
    admit: async (subject) => {
      const { allowed, source } = await quota.consume({ subject, operation: 'music.upsert' })
      return allowed && source === 'store'
    },
    stop: () => quota.close(),
  }
}

function policyOf(site: number): Policy {
  const table = (tokens: number) => {
    const windows = { '1h': tokens, '5h': tokens, '1d': tokens }
    return { read: windows, write: windows }
  }
  const base: LimitTable = { personal: table(MAX_LIMIT), site: table(site) }
  return defaultPolicy({ operations: { 'music.upsert': { category: 'write', cost: COST } }, base })
}

export function leased(
  seeds: Seeds,
  prefix: string,
  site: number,
): ClusterDecider & { readonly store: LeasedRedisStore } {
  const store = leasedRedisStore({ client: client(seeds), prefix, deadlineMs: 1_000 })
  return { name: LEASED, store, ...engine(store, policyOf(site)) }
}

/** Decisions without a server call: only the leased site is counted. */
export function local(seeds: Seeds): ClusterDecider {
  const { windows, layers, ...policy } = policyOf(MAX_LIMIT)
  const store = leasedRedisStore({ client: client(seeds), prefix: 'local', deadlineMs: 1_000 })
  const counters = store.open(storeSchema({ windows, layers, ...policy }))
  const site = layers.findIndex(({ shared }) => shared)
  const quotas = { layers: [site], limits: windows.map(() => MAX_LIMIT) }
  return {
    name: LOCAL,
    store,
    admit: async (subject) =>
      (await counters.take({ subject, category: 1, quotas, costs: [COST, 0] })).outcome === 'admitted',
    stop: () => store.close(),
  }
}

function exact(seeds: Seeds): ClusterDecider {
  const store = redisStore({ client: client(seeds), prefix: 'exact', deadlineMs: 1_000 })
  return { name: 'quota, exact: six counters in one slot', ...engine(store, policyOf(MAX_LIMIT)) }
}

/** Only a pattern for stores, which open their own connections. */
function client(seeds: Seeds): Cluster {
  return new Cluster([...seeds], { lazyConnect: true })
}
