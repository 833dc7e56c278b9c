import type { Clock } from '@scoregw/quota'
import { manualClock, type StoreFactory } from '@scoregw/quota-testkit'
import { Redis } from 'ioredis'
import { type RedisStore, redisStore } from '../src/index.ts'

let prefixes = 0

/** A prefix that no other test of this process uses. */
export function newPrefix(): string {
  prefixes++
  return `t${prefixes}`
}

/** A store on a connection of its own; `testClock` stands in for the server's. */
export function openStore(port: number, prefix: string, testClock?: Clock): RedisStore {
  return redisStore({ client: new Redis({ port, lazyConnect: true }), prefix, deadlineMs: 1_000, testClock })
}

/** New stores for the testkit: each time two, as of two processes, under a prefix of their own. */
export function redisFactory(port: () => number): StoreFactory {
  return async () => {
    const clock = manualClock()
    const prefix = newPrefix()
    const [store, peer] = [openStore(port(), prefix, clock), openStore(port(), prefix, clock)]
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
