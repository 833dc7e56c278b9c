import type { Clock } from '@scoregw/quota'
import { uniform } from '@scoregw/quota-histories'
import { manualClock, type RowName, type StoreFactory, type StoreHarness } from '@scoregw/quota-testkit'
import { Cluster, Redis } from 'ioredis'
import { createClient } from 'redis'
import { type RedisClient, type RedisStore, redisStore } from '../src/index.ts'
import { Keys } from '../src/keys/keys.ts'
import { groupOf, groupPrefixes } from '../src/leases/places.ts'
import { leasedRedisStore } from '../src/leases.ts'
import type { RedisCluster, ReplicaPair } from './support/redis-server.ts'
import { startProxy } from './support/tcp-proxy.ts'

let prefixes = 0

/** A prefix that no other test of this process uses. */
export function newPrefix(): string {
  prefixes++
  return `t${prefixes}`
}

/** A store on a connection of its own; `testClock` stands in for the server's. */
export function openStore(port: number, prefix: string, testClock?: Clock): RedisStore {
  return openStoreOn(new Redis({ port, lazyConnect: true }), prefix, testClock)
}

type Open = (client: RedisClient, prefix: string, testClock?: Clock) => RedisStore

const openStoreOn: Open = (client, prefix, testClock) => redisStore({ client, prefix, deadlineMs: 1_000, testClock })

const openLeasedOn: Open = (client, prefix, testClock) => {
  return leasedRedisStore({ client, prefix, deadlineMs: 1_000, testClock, logger: false })
}

/** The same with leases, on one server. */
export function leasedFactory(port: () => number): StoreFactory {
  return oneServerFactory(port, openLeasedOn, leasedPrefixOf)
}

/** Where a row is. */
function leasedPrefixOf(prefix: string, { layer, key }: RowName): string {
  const layers = [{ name: layer, shared: key === '', cells: [] }]
  return key === '' ? prefix : groupPrefixes(prefix)[groupOf(layers, key)]!
}

/** New stores for the testkit: each time two, as of two processes, under a prefix of their own. */
export function redisFactory(port: () => number): StoreFactory {
  return oneServerFactory(port, openStoreOn, (prefix) => prefix, ['regroup'])
}

/** The same with clients of node-redis. */
export function nodeRedisFactory(port: () => number): StoreFactory {
  return oneServerFactory(port, openStoreOn, (prefix) => prefix, ['regroup'], nodeRedis)
}

/** A client of node-redis that never connects itself. */
export function nodeRedis(port: number): RedisClient {
  return createClient({ socket: { port, host: '127.0.0.1' } })
}

/** The same without anything between the stores and their server. */
export function directFactory(port: () => number): StoreFactory {
  const client = () => new Redis({ port: port(), lazyConnect: true })
  return async () => ({
    ...(await twoStores(client, newPrefix(), openStoreOn)),
    capabilities: ['ids', 'clock-steps'],
  })
}

/** The same on a cluster; the prefixes are in slots of all its servers. */
export function clusterFactory(cluster: () => RedisCluster): StoreFactory {
  return onCluster(cluster, openStoreOn, (prefix) => prefix, ['regroup'])
}

/** The same with leases. */
export function leasedClusterFactory(cluster: () => RedisCluster): StoreFactory {
  return onCluster(cluster, openLeasedOn, leasedPrefixOf)
}

function onCluster(
  cluster: () => RedisCluster,
  open: Open,
  prefixOf: (prefix: string, row: RowName) => string,
  more: StoreHarness['capabilities'] = [],
): StoreFactory {
  const client = () => new Cluster([...cluster().seeds], { lazyConnect: true })
  return async () => {
    const admin = new Cluster([...cluster().seeds])
    const prefix = newPrefix()
    const { stop, ...harness } = await twoStores(client, prefix, open)
    return {
      ...harness,
      ...whatIsStored(admin, prefix, (row) => prefixOf(prefix, row)),
      capabilities: [...CAPABILITIES, ...more],
      async stop() {
        await stop()
        admin.disconnect()
      },
    }
  }
}

/** The same on a primary that a Sentinel names. */
export function sentinelFactory(pair: () => ReplicaPair): StoreFactory {
  return async () => {
    const { sentinels, name } = pair()
    const client = () => new Redis({ sentinels: [...sentinels], name, lazyConnect: true })
    const admin = client()
    const prefix = newPrefix()
    const { stop, ...harness } = await twoStores(client, prefix, openStoreOn)
    return {
      ...harness,
      ...whatIsStored(admin, prefix, () => prefix),
      capabilities: [...CAPABILITIES, 'regroup'],
      async stop() {
        await stop()
        admin.disconnect()
      },
    }
  }
}

const CAPABILITIES = ['ids', 'clock-steps', 'revisions', 'damage', 'expiry'] as const

function oneServerFactory(
  port: () => number,
  open: Open,
  prefixOf: (prefix: string, row: RowName) => string,
  more: StoreHarness['capabilities'] = [],
  clientOf = (to: number): RedisClient => new Redis({ port: to, lazyConnect: true }),
): StoreFactory {
  return async () => {
    const prefix = newPrefix()
    const proxy = await startProxy(port())
    const admin = new Redis({ port: port() })
    const client = () => clientOf(proxy.port)
    const { stop, ...harness } = await twoStores(client, prefix, open)
    return {
      ...harness,
      ...whatIsStored(admin, prefix, (row) => prefixOf(prefix, row)),
      capabilities: [...CAPABILITIES, 'deadline', ...more],
      silence: () => proxy.blackHole(true),
      async stop() {
        await stop()
        admin.disconnect()
        await proxy.stop()
      },
    }
  }
}

/** The hands of a harness on what servers hold. */
export function whatIsStored(admin: Redis | Cluster, prefix: string, prefixOf: (row: RowName) => string) {
  const keyOf = (row: RowName): string => {
    const schema = uniform([], [], [{ name: row.layer, shared: false }])
    return new Keys(prefixOf(row), schema).row(0, row.key)
  }
  return {
    async storeRevision(revision: string): Promise<void> {
      if (revision === '') await admin.del(`{${prefix}}:settings`)
      else await admin.set(`{${prefix}}:settings`, revision)
    },
    async damage(row: RowName, change: (bytes: Uint8Array) => Uint8Array): Promise<void> {
      const key = keyOf(row)
      const bytes = await admin.getBuffer(key)
      if (bytes === null) throw new Error(`there is no row at ${key}`)
      await admin.set(key, Buffer.from(change(bytes)), 'KEEPTTL')
    },
    /** By the server's own time, which goes on while the clock in the test's hand stands still. */
    keptForMs: async (row: RowName): Promise<number> => Math.max(0, await admin.pttl(keyOf(row))),
  }
}

async function twoStores(client: () => RedisClient, prefix: string, open: Open): Promise<StoreHarness> {
  const clock = manualClock()
  const [store, peer] = [open(client(), prefix, clock), open(client(), prefix, clock)]
  await Promise.all([store.ready(), peer.ready()])
  return {
    store,
    peer,
    capabilities: [],
    clock,
    advance: clock.advance,
    stepClock: clock.advance,
    async stop() {
      await Promise.all([store.close(), peer.close()])
    },
  }
}
