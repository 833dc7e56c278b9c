import { createQuota, definePolicy } from '@scoregw/quota'
import { startHttpFront } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { redisSettings, redisStore } from '../../src/index.ts'
import { leasedRedisStore } from '../../src/leases.ts'
import { redisRestStore } from '../../src/rest.ts'
import { redisBroadcast } from '../../src/settings/redis-broadcast.ts'
import { useCleanups } from '../support/cleanups.ts'
import { redisTests } from '../support/redis-server.ts'

const { later, server } = useCleanups()

/** One slot for each user, by an operation that holds it. */
const policy = definePolicy({
  limits: { perHour: { by: 'user', limit: 1_000, per: '1h' }, running: { by: 'user', concurrency: 1, for: 'run' } },
  operations: { run: {}, read: {} },
})

async function started() {
  const redis = await server()
  const front = await startHttpFront(redis.port)
  later(() => front.stop())
  const admin = new Redis({ port: redis.port })
  later(() => admin.disconnect())
  let sent = 0
  const counting: typeof fetch = (...args) => {
    sent++
    return fetch(...args)
  }
  /** Another process. */
  const open = (batch = true, deadlineMs = 5_000) => {
    const store = redisRestStore({ url: front.url, token: front.token, deadlineMs, fetch: counting, batch })
    const quota = createQuota({ policy, store, settingsStore: store.settings })
    later(() => quota.close())
    return quota
  }
  return { redis, admin, open, sent: () => sent }
}

const run = { subject: 'u', operation: 'run' } as const

describe.runIf(redisTests).each([true, false])('an HTTP store with batches: %s', (batch) => {
  it('an HTTP store without calls sends nothing', async () => {
    const { open, sent } = await started()
    const quota = open(batch)
    // A hold that ends meanwhile, and settings that were read.
    await quota.reserve({ ...run, ttlMs: 1_000 })
    const before = sent()
    // Twice as long as stores with a connection take to look for ended holds and for changes.
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(sent() - before).toBe(0)
    // And it was not for lack of a way: what it sends now is counted.
    await quota.status('u')
    expect(sent()).toBeGreaterThan(before)
  })

  it('an HTTP store ends expired holds of other processes before it refuses', async () => {
    const { admin, open } = await started()
    const [gone, quota] = [open(batch), open(batch)]
    const hold = await gone.reserve({ ...run, ttlMs: 1_000 })
    const endsAt = hold.allowed ? hold.endsAt! : Number.NaN
    expect((await quota.reserve({ ...run, id: 'a' })).status).toBe('refused')
    // By the server's clock, and past the pause between two sweeps of this process.
    await expect.poll(async () => Number((await admin.time())[0]) * 1_000).toBeGreaterThan(endsAt + 1_000)
    expect((await quota.reserve({ ...run, id: 'b' })).status).toBe('reserved')
  })

  it('an HTTP store uses another process’s settings from the second decision on', async () => {
    const { redis, open } = await started()
    const quota = open(batch)
    const client = new Redis(redis.port)
    const settings = redisSettings({ client })
    later(() => {
      settings.close()
      client.disconnect()
    })
    const limit = async () => (await quota.consume({ subject: 'u', operation: 'read' })).limits.perHour?.limit
    expect(await limit()).toBe(1_000)
    await settings.writeSubject('user', 'u', { limits: { perHour: 7 } }, {})
    // The first still follows what this process knew, and brings the news.
    await limit()
    expect(await limit()).toBe(7)
  })
})

describe('unavailable features by HTTP', () => {
  it.each(['leases', 'broadcast'])('the HTTP store rejects the option %s', (name) => {
    const options = { url: 'https://db.example', token: 't', [name]: true }
    expect(() => redisRestStore(options)).toThrow(new RegExp(`${name}.*not available by HTTP`))
  })

  it.each([
    ['leasedRedisStore', leasedRedisStore],
    ['redisBroadcast', redisBroadcast],
    ['redisStore', redisStore],
  ] as const)('an address in place of a client is rejected by %s()', (name, make) => {
    const client = { url: 'https://db.example', token: 'secret-token' }
    const made = () => (make as (options: object) => unknown)({ client })
    expect(made).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    expect(made).toThrow(new RegExp(`${name}.*redisRestStore\\(\\)`))
    expect(made).not.toThrow(/secret-token/)
  })

  it.each([
    ['ftp://db.example', 't'],
    ['https://user:secret-token@db.example', 't'],
    ['https://db.example?_token=secret-token', 't'],
    ['secret-token', 't'],
    ['https://db.example', 'secret-token\n'],
    ['https://db.example', ''],
  ])('an address or token that no request can carry is rejected and not shown: %j', (url, token) => {
    const made = () => redisRestStore({ url, token })
    expect(made).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    expect(made).not.toThrow(/secret-token/)
  })
})
