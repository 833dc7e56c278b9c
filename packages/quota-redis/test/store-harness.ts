import type { Clock } from '@scoregw/quota'
import { manualClock, type StoreFactory } from '@scoregw/quota-testkit'
import { Cluster, Redis } from 'ioredis'
import { leasedRedisStore, type RedisClient, type RedisStore, redisStore } from '../src/index.ts'
import type { RedisCluster } from './support/redis-server.ts'

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

function openStoreOn(client: RedisClient, prefix: string, testClock?: Clock): RedisStore {
  return redisStore({ client, prefix, deadlineMs: 1_000, testClock })
}

/** The same with leases, on one server. */
export function leasedFactory(port: () => number): StoreFactory {
  return factoryOn(
    () => new Redis({ port: port(), lazyConnect: true }),
    (client, prefix, testClock) => leasedRedisStore({ client, prefix, deadlineMs: 1_000, testClock }),
  )
}

/** New stores for the testkit: each time two, as of two processes, under a prefix of their own. */
export function redisFactory(port: () => number): StoreFactory {
  return factoryOn(() => new Redis({ port: port(), lazyConnect: true }))
}

/** The same on a cluster; the prefixes are in slots of all its servers. */
export function clusterFactory(cluster: () => RedisCluster): StoreFactory {
  return factoryOn(() => new Cluster([...cluster().seeds], { lazyConnect: true }))
}

function factoryOn(client: () => RedisClient, open = openStoreOn): StoreFactory {
  return async () => {
    const clock = manualClock()
    const prefix = newPrefix()
    const [store, peer] = [open(client(), prefix, clock), open(client(), prefix, clock)]
    await Promise.all([store.ready(), peer.ready()])
    return {
      store,
      peer,
      capabilities: ['ids', 'clock-steps'],
      clock,
      advance: clock.advance,
      stepClock: clock.advance,
      async stop() {
        await Promise.all([store.close(), peer.close()])
      },
    }
  }
}
