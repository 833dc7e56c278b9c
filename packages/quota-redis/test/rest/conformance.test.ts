import {
  CONFORMANCE_CASES,
  describeSettingsStore,
  describeStore,
  manualClock,
  SETTINGS_STORE_CASES,
} from '@scoregw/quota-testkit'
import { type HttpFront, startHttpFront } from '@scoregw/redis-server'
import { slowTests } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisRestStore } from '../../src/rest.ts'
import { newPrefix, whatIsStored } from '../store-harness.ts'
import { type RedisServer, redisTests, startRedis } from '../support/redis-server.ts'

/** Whether calls share requests. */
const modes = process.env.QUOTA_TEST_DEEP === undefined ? [true] : [true, false]

// The longest file: each case plays through a server of HTTP before Redis.
describe.runIf(redisTests && slowTests)('the store by HTTP', () => {
  let redis: RedisServer
  let admin: Redis
  let front: HttpFront
  beforeAll(async () => {
    redis = await startRedis()
    admin = new Redis({ port: redis.port })
  })
  afterAll(async () => {
    admin.disconnect()
    await redis.stop()
  })

  const opened = (prefix: string, more: object = {}) =>
    redisRestStore({ url: front.url, token: front.token, prefix, deadlineMs: 2_000, ...more })

  const registered = modes.map((batch) =>
    describeStore(
      { describe, it },
      async () => {
        front = await startHttpFront(redis.port)
        const { silence, stop } = front
        const [clock, prefix] = [manualClock(), newPrefix()]
        const [store, peer] = [opened(prefix, { batch, testClock: clock }), opened(prefix, { batch, testClock: clock })]
        return {
          ...whatIsStored(admin, prefix, () => prefix),
          ...{ store, peer, clock, silence },
          advance: clock.advance,
          stepClock: clock.advance,
          capabilities: ['ids', 'clock-steps', 'revisions', 'damage', 'expiry', 'deadline', 'regroup'],
          async stop() {
            await Promise.all([store.close(), peer.close()])
            await stop()
          },
        }
      },
      batch ? 'in batches' : 'one call per operation',
    ),
  )

  it('the HTTP store passes the conformance suite', () =>
    expect(registered).toEqual(modes.map(() => CONFORMANCE_CASES.length)))

  describeSettingsStore(
    { describe, it },
    async () => {
      front = await startHttpFront(redis.port)
      const { stop } = front
      const prefix = newPrefix()
      const stores = [opened(prefix), opened(prefix)] as const
      // Notified is what changed since the first answer.
      await Promise.all(stores.map((store) => store.ready()))
      // Nothing polls: what a process is notified of, it notices when it uses the database.
      const uses = setInterval(() => {
        for (const { settings } of stores) settings.readSubject('use', '').then(undefined, () => undefined)
      }, 20)
      return {
        store: stores[0].settings,
        peer: stores[1].settings,
        capabilities: ['loss'],
        loseData: async () => void (await admin.flushall()),
        async stop() {
          clearInterval(uses)
          await Promise.all(stores.map((store) => store.close()))
          await stop()
        },
      }
    },
    'settings that are in use',
  )

  it('the HTTP store’s settings pass the conformance suite', () =>
    expect(SETTINGS_STORE_CASES.length).toBeGreaterThan(10))
})
