import { inspect } from 'node:util'
import { createQuota, type QuotaError } from '@scoregw/quota'
import { Redis } from 'ioredis'
import Redis50 from 'ioredis50'
import { describe, expect, it } from 'vitest'
import { redisStore } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server } = useCleanups()

describe.runIf(redisTests)('printed errors', () => {
  it.each([
    ['6', Redis],
    ['5.0', Redis50 as unknown as typeof Redis],
  ])('an error of ioredis %s has its reason, and no script or subject', async (_, Client) => {
    const redis = await server()
    const client = new Client({ port: redis.port, lazyConnect: true })
    client.on('error', () => undefined)
    const store = redisStore({ client })
    const quota = createQuota({ limits: { perHour: { by: 'user', limit: 2, per: '1h' } }, store })
    later(() => quota.close())
    await quota.ready()
    await redis.cli('SCRIPT', 'FLUSH')
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1')

    const error: QuotaError = await quota.consume({ subject: 'somebody' }).then(
      () => expect.unreachable('it fails'),
      (thrown: QuotaError) => thrown,
    )
    expect(error.code).toBe('quota_unavailable')
    const printed = inspect(error, { depth: 20, maxArrayLength: null, maxStringLength: null })
    expect(printed).toContain('OOM')
    expect(printed).not.toContain('redis.call')
    expect(printed).not.toContain('somebody')
    expect(printed.length).toBeLessThan(6_000)
  })
})
