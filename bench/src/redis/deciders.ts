import { redisStore } from '@scoregw/quota-redis'
import { Redis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { Admit, Decider } from '../deciders/decider.ts'
import { COST, flexibleOne, flexibleSix, type LimiterOptions, WINDOWS_MS } from '../deciders/flexible.ts'
import { expressStore } from '../deciders/peers.ts'
import { USUAL } from '../traffic/ordinary.ts'
import { deciderFor, type Traffic } from '../traffic/traffic.ts'

type Make = (client: Redis) => Admit | Promise<Admit>

const INCRBY = 'INCRBY of one counter'
export const OURS = 'quota: six counters'

const peers: Readonly<Record<string, Make>> = {
  'rate-limiter-flexible: one limit': (client) => flexibleOne(flexibleOn(client)),
  'rate-limiter-flexible: six limits, two unions': (client) => flexibleSix(flexibleOn(client)),
  'rate-limit-redis: six stores': expressSix,
}

/** All deciders; the others are compared with the first. Each has a separate auto-pipelining connection. */
export async function deciders(port: number): Promise<Decider[]> {
  const others = Object.entries(peers).map(([name, make]) => connected(port, name, make))
  return [await floor(port), await quotaOn(port, USUAL, ['q', OURS]), ...(await Promise.all(others))]
}

export function floor(port: number): Promise<Decider> {
  return connected(port, INCRBY, (client) => async () => (await client.incrby('counter', COST)) > 0)
}

/** An engine for each traffic, with a separate connection and prefix. */
export function quotasOn(port: number, traffic: readonly Traffic[], prefix: string): Promise<Decider[]> {
  return Promise.all(traffic.map((each, index) => quotaOn(port, each, [`${prefix}${index}`, `quota: ${each.name}`])))
}

function quotaOn(port: number, traffic: Traffic, [prefix, name]: readonly [string, string]): Promise<Decider> {
  const client = new Redis({ port, enableAutoPipelining: true })
  const store = redisStore({ client, prefix, deadlineMs: 1_000 })
  return deciderFor(traffic, { name, store, end: () => client.disconnect() })
}

async function connected(port: number, name: string, make: Make): Promise<Decider> {
  const client = new Redis({ port, enableAutoPipelining: true })
  return { name, admit: await make(client), stop: () => client.disconnect() }
}

function flexibleOn(storeClient: Redis): (options: LimiterOptions) => RateLimiterRedis {
  return (options) => new RateLimiterRedis({ storeClient, ...options })
}

/** Its stores count requests, not tokens. */
function expressSix(client: Redis): Admit {
  const stores = ['personal', 'site'].flatMap((layer) =>
    WINDOWS_MS.map((ms) => ({ store: expressStore(client, ms, `${layer}${ms}:`), shared: layer === 'site' })),
  )
  return async (user) => {
    const counts = await Promise.all(stores.map(({ store, shared }) => store.increment(shared ? 'site' : user)))
    return counts.every(({ totalHits }) => totalHits < 10 ** 11)
  }
}
