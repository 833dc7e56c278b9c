import { createQuota } from '@scoregw/quota'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it } from 'vitest'
import { type RedisClient, redisStore } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server } = useCleanups()

/** A limiter over a store of its own, and what its logger got. */
function limiter(client: RedisClient, limit: number, options: { prefix?: string; name?: string } = {}) {
  const { prefix = 'shared', name = 'perQuarter' } = options
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => undefined }
  const limits = { [name]: { by: 'user', limit, per: '15m' } } as const
  const quota = createQuota({ limits, store: redisStore({ client, prefix }), logger })
  later(() => quota.close())
  return { quota, warnings }
}

describe.runIf(redisTests)('two limiters on one Redis', () => {
  it('limiters conflict on one server, database and prefix with any two clients, and not otherwise', async () => {
    const { port } = await server()
    const host = '127.0.0.1'
    const io = (db = 0) => new Redis({ host, port, db, lazyConnect: true })
    const node = (database = 0) =>
      [
        createClient({ socket: { host, port }, database }),
        createClient({ url: `redis://:secret@${host}:${port}/${database}` }),
      ] as const
    limiter(io(), 100)
    for (const client of [io(), ...node()]) {
      const { warnings } = limiter(client, 5)
      expect(warnings[0]).toContain('"perQuarter" of requests in layer "user", with the limits 100 and 5')
      expect(warnings.join()).not.toContain('secret')
    }
    expect(limiter(io(1), 7).warnings).toEqual([])
    // As another process of one program has it.
    expect(limiter(io(1), 7).warnings).toEqual([])
    for (const client of node(1)) {
      expect(limiter(client, 8).warnings).toEqual([expect.stringContaining('with the limits 7 and 8')])
    }
    expect(limiter(io(), 9, { prefix: 'other' }).warnings).toEqual([])
  })

  it('conflicting limiters share their counters, and names separate them', async () => {
    const { port } = await server()
    const client = () => new Redis({ port, lazyConnect: true })
    const api = limiter(client(), 100)
    const login = limiter(client(), 5)
    const named = limiter(client(), 5, { name: 'login' })
    for (let i = 0; i < 6; i++) await api.quota.consume({ subject: 'u' })
    expect(await login.quota.peek({ subject: 'u' })).toMatchObject({ allowed: false })
    expect(await named.quota.consume({ subject: 'u' })).toMatchObject({ allowed: true, limits: { login: { used: 1 } } })
    expect([login.warnings.length, named.warnings.length]).toEqual([1, 0])
  })
})
