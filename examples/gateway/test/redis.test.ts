import { createQuota, parsePolicy } from '@scoregw/quota'
import type { SettingsChange } from '@scoregw/quota/store'
import { systemClock } from '@scoregw/quota/store'
import { redisBroadcast, redisStore } from '@scoregw/quota-redis'
import { type RedisServer, redisTests, startCluster } from '@scoregw/redis-server'
import { ownTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCommand } from '../src/cli/run-command.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { createLogger } from '../src/log/logger.ts'
import { BroadcastSettings, settingsOn } from '../src/quota/settings.ts'
import {
  ADMIN_TOKEN,
  ENTRY,
  START,
  type TestGateway,
  type TestOptions,
  tempDir,
  testGateway,
  usedOf,
} from './support/gateway.ts'
import { redisServer } from './support/redis.ts'

function gatewayOn(redis: RedisServer, { env, ...options }: TestOptions = {}): Promise<TestGateway> {
  return testGateway({ ...options, env: { REDIS_URL: redis.url, ...env } })
}

const upsert = ({ send }: TestGateway) => send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })
const read = ({ send }: TestGateway) => send('POST', '/v1/user/music')
const readyz = async ({ send }: TestGateway) => (await send('GET', '/readyz', { token: null })).status
/** The revision that decisions follow, as announced to Redis. */
const announcedIn = (redis: RedisServer) => redis.cli('GET', '{gateway}:settings')
/** Of no settings that anybody stored. */
const STRANGE = 'S'.repeat(22)

/** The revision of the settings that are stored. */
async function revisionOf({ send }: TestGateway): Promise<string> {
  const { headers } = await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })
  return /^"\d+-(.*)"$/.exec(headers.get('ETag') ?? '')?.[1] ?? ''
}

/** Changes the settings of all subjects by their mode. */
async function setMode({ send }: TestGateway, mode: string): Promise<number> {
  const { version: _, ...document } = (await send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })).body
  const headers = { 'If-Match': '*' }
  const answer = await send('PUT', '/admin/quota/settings', {
    token: ADMIN_TOKEN,
    headers,
    body: { ...document, mode },
  })
  return answer.status
}

async function announcedSettings(redis: RedisServer, dataDir: string): Promise<BroadcastSettings> {
  const db = await openSqlite(dataDir)
  const broadcast = redisBroadcast({ client: new Redis(redis.url, { lazyConnect: true }) })
  const settings = new BroadcastSettings(settingsOn(db, systemClock), broadcast, createLogger('silent'))
  onTestFinished(async () => {
    await settings.close()
    await db.destroy()
  })
  return settings
}

const UNAVAILABLE = { error: 'quota_unavailable', msg: expect.any(String), requestId: expect.any(String) }

describe.runIf(redisTests)('a gateway with Redis', () => {
  it('the gateway counts on a cluster', async () => {
    const cluster = await startCluster({ replicas: 0 })
    onTestFinished(() => cluster.stop())
    const nodes = cluster.seeds.map(({ host, port }) => `${host}:${port}`)
    const gateway = await testGateway({ env: { REDIS_URL: `redis+cluster://${nodes}` } })
    expect((await upsert(gateway)).status).toBe(200)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 15 })
    expect(await readyz(gateway)).toBe(200)
    expect(await setMode(gateway, 'lenient')).toBe(200)
    expect((await upsert(gateway)).status).toBe(200)
    const home = await cluster.primaryOf(await cluster.slotOf('{gateway}'))
    expect(await announcedIn(home)).toBe(await revisionOf(gateway))
    // The rows of users are in the site's slot.
    expect(await home.cli('KEYS', '{gateway}:personal*')).toHaveLength(1)
    await gateway.stop()
  })

  it('the gateway counts in Redis and closes every connection when it stops', async () => {
    const redis = await redisServer()
    const gateway = await gatewayOn(redis)
    expect((await upsert(gateway)).status).toBe(200)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 15 })
    expect(await readyz(gateway)).toBe(200)
    expect(await redis.cli('KEYS', '{gateway}*')).not.toEqual([])
    await gateway.stop()
    await expect
      .poll(
        async () =>
          String(await redis.cli('CLIENT', 'LIST'))
            .trim()
            .split('\n').length,
      )
      .toBe(1)
    const next = await gatewayOn(redis, { dataDir: gateway.dataDir })
    expect(await usedOf(next)).toEqual({ read: 0, write: 15 })
  })

  it('the gateway counts under the exported policy and the documented prefix', async () => {
    const redis = await redisServer()
    await upsert(await gatewayOn(redis))
    const { out } = await runCommand(['policy', 'export'], { DATA_DIR: tempDir() })
    const client = new Redis(redis.url, { lazyConnect: true })
    const store = redisStore({ client, prefix: 'gateway', deadlineMs: 1_000 })
    const quota = createQuota({ policy: parsePolicy(JSON.parse(out)), store, clock: { now: () => START } })
    onTestFinished(() => quota.close())
    expect((await quota.status('demo')).limits['personal-write-1h']).toMatchObject({ used: 15, limit: 60 })
  })

  it('the gateway charges nothing for failed requests', async () => {
    const gateway = await gatewayOn(await redisServer())
    const missing = { body: { musicId: 10_103, level: 4 } }
    expect((await gateway.send('POST', '/v1/music/delete', missing)).status).toBe(404)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
  })

  it('the gateway answers 429 when the tokens are used up', async () => {
    const gateway = await gatewayOn(await redisServer())
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => upsert(gateway)))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 200, 200, ...Array.from({ length: 6 }, () => 429)])
  })

  it.each([0, 3])(
    'the gateway announces the database’s settings over any earlier announcement (%i changes)',
    async (changes) => {
      const redis = await redisServer()
      const first = await gatewayOn(redis)
      for (let version = 1; version <= changes; version++) expect(await setMode(first, 'lenient')).toBe(200)
      await first.stop()
      await redis.cli('SET', '{gateway}:settings', STRANGE)
      const gateway = await gatewayOn(redis, { dataDir: first.dataDir })
      expect((await upsert(gateway)).status).toBe(200)
      expect(await announcedIn(redis)).toBe(await revisionOf(gateway))
    },
  )

  it('other processes get changes before they poll the database', async () => {
    const redis = await redisServer()
    const dataDir = tempDir()
    const [writer, other] = [await announcedSettings(redis, dataDir), await announcedSettings(redis, dataDir)]
    const changes: SettingsChange[] = []
    other.watch((change) => changes.push(change))
    const write = async (): Promise<SettingsChange[]> => {
      await writer.writeSubject('personal', 'a', null, {})
      return changes
    }
    await expect.poll(write).toContainEqual({ kind: 'subject', layer: 'personal', key: 'a' })
  })

  it('the gateway announces its settings to an emptied Redis with the first decision', async () => {
    const redis = await redisServer()
    const gateway = await gatewayOn(redis)
    expect(await setMode(gateway, 'lenient')).toBe(200)
    const revision = await revisionOf(gateway)
    expect(await announcedIn(redis)).toBe(revision)
    await redis.kill()
    await expect.poll(() => gateway.log.join('')).toContain('Redis does not answer')
    await redis.restart()
    await expect.poll(() => gateway.log.join('')).toContain('Redis answers again')
    expect((await upsert(gateway)).status).toBe(200)
    expect(await announcedIn(redis)).toBe(revision)
  })
})

describe.runIf(redisTests)('a gateway without its Redis', () => {
  it('a gateway without Redis starts, serves free requests, and recovers by itself', async () => {
    const redis = await redisServer({ aof: true })
    // Of a database that was restored from a backup since.
    await redis.cli('SET', '{gateway}:settings', STRANGE)
    await redis.kill()
    const gateway = await gatewayOn(redis)
    const { send } = gateway
    expect((await send('GET', '/healthz', { token: null })).status).toBe(200)
    expect((await send('GET', '/v1/health', { token: null })).status).toBe(200)
    const notReady = await send('GET', '/readyz', { token: null })
    expect(notReady.status).toBe(503)
    expect(notReady.headers.get('Retry-After')).toBe('1')
    expect(notReady.body).toEqual({ ...UNAVAILABLE, msg: 'No answer from Redis.', retryAfterSeconds: 1 })

    const write = await upsert(gateway)
    expect(write.status).toBe(503)
    expect(write.headers.get('Retry-After')).toBe('5')
    expect(write.body).toEqual({ ...UNAVAILABLE, retryAfterSeconds: 5 })
    // Nothing was seen of its windows: this process has no share of them.
    expect((await read(gateway)).body).toEqual({ ...UNAVAILABLE, retryAfterSeconds: 5 })
    expect((await send('GET', '/me/quota')).status).toBe(503)
    expect(await setMode(gateway, 'lenient')).toBe(200)

    await redis.restart()
    await expect.poll(() => readyz(gateway), { interval: 20 }).toBe(200)
    // Where the circuit was opened meanwhile, it closes with the next probe.
    await expect.poll(async () => (await upsert(gateway)).status, { interval: 20 }).toBe(200)
    expect(await announcedIn(redis)).toBe(await revisionOf(gateway))
    expect((await send('GET', '/me/quota')).body.windows.write[0]).toMatchObject({ limit: 90, used: 15 })
  })

  it('a gateway without Redis admits its share of reads and no writes, and charges the reads later', async () => {
    const redis = await redisServer({ aof: true })
    const gateway = await gatewayOn(redis, { env: { EXPECTED_PROCESSES: '3' } })
    const quota = { overrides: { read: { '1h': 100 } } }
    const put = { token: ADMIN_TOKEN, body: quota }
    expect((await gateway.send('PUT', '/admin/users/demo/quota', put)).status).toBe(200)
    expect((await read(gateway)).status).toBe(200)
    expect((await upsert(gateway)).status).toBe(200)
    await redis.kill()
    // A third of the 96 tokens that remained: eight reads of four.
    const reads: number[] = []
    for (let count = 0; count < 10; count++) reads.push((await read(gateway)).status)
    expect(reads).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 503, 503])
    expect((await upsert(gateway)).status).toBe(503)
    await redis.restart()
    await expect.poll(() => readyz(gateway), { interval: 20 }).toBe(200)
    // The circuit may be open still: it closes with the next probe.
    await expect.poll(async () => (await read(gateway)).status, { interval: 20 }).toBe(200)
    await expect.poll(() => usedOf(gateway)).toEqual({ read: 40, write: 15 })
  })

  it('a gateway without Redis applies the configured failure policy', async () => {
    const redis = await redisServer()
    await redis.kill()
    const gateway = await gatewayOn(redis, { env: { QUOTA_FAILURE_POLICY: 'read=closed,write=open' } })
    expect((await read(gateway)).status).toBe(503)
    expect((await upsert(gateway)).status).toBe(200)
  })

  it('a gateway with a hanging Redis answers within the deadline and isn’t ready', async () => {
    const redis = await redisServer()
    const gateway = await gatewayOn(redis, { env: { REDIS_DEADLINE_MS: '150' } })
    redis.pause()
    onTestFinished(() => redis.resume())
    for (const call of [() => upsert(gateway), () => readyz(gateway)]) {
      const startedAt = ownTime()
      const answer = await call()
      expect(typeof answer === 'number' ? answer : answer.status).toBe(503)
      expect(ownTime() - startedAt).toBeLessThan(900)
    }
    redis.resume()
    await expect.poll(() => readyz(gateway), { interval: 20 }).toBe(200)
  })
})

describe.runIf(redisTests)('a Redis that can’t be used', () => {
  it('a gateway doesn’t start on a Redis that may evict counters', async () => {
    const redis = await redisServer({ args: ['--maxmemory-policy', 'allkeys-lru'] })
    await expect(gatewayOn(redis)).rejects.toThrow(/^The configuration has faults:\n {2}REDIS_URL: .*allkeys-lru/)
    await expect
      .poll(
        async () =>
          String(await redis.cli('CLIENT', 'LIST'))
            .trim()
            .split('\n').length,
      )
      .toBe(1)
  })

  it('a gateway isn’t ready once its Redis may evict counters, and says so', async () => {
    const redis = await redisServer()
    const gateway = await gatewayOn(redis)
    await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    // Looked at when a connection is made.
    await redis.cli('CLIENT', 'KILL', 'TYPE', 'normal')
    await expect.poll(() => readyz(gateway)).toBe(503)
    expect((await upsert(gateway)).status).toBe(503)
    expect(gateway.log.join('')).toContain('allkeys-lru')
    await redis.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await expect.poll(() => readyz(gateway)).toBe(200)
  })

  it('the Redis password isn’t logged', async () => {
    const redis = await redisServer()
    await redis.cli('ACL', 'SETUSER', 'gateway', 'on', '>p4ss@s3cr3t', '~*', '&*', '+@all')
    for (const password of ['wr0ng%40s3cr3t', 'p4ss%40s3cr3t']) {
      const REDIS_URL = `redis://gateway:${password}@127.0.0.1:${redis.port}/3`
      const gateway = await testGateway({ env: { REDIS_URL, LOG_LEVEL: 'trace' } })
      expect(gateway.gateway.app.counters.name).toBe(`Redis 127.0.0.1:${redis.port}/3`)
      const isRight = password.startsWith('p4ss')
      expect(await readyz(gateway)).toBe(isRight ? 200 : 503)
      expect(await setMode(gateway, 'lenient')).toBe(200)
      expect((await upsert(gateway)).status).toBe(isRight ? 200 : 503)
      const log = gateway.log.join('')
      if (!isRight) expect(log).toContain('WRONGPASS')
      expect(log).not.toMatch(/s3cr3t/)
      await gateway.stop()
    }
    // Nor would an error that carries the command with the password.
    const client = new Redis(redis.url, { lazyConnect: true, retryStrategy: () => null })
    const error: unknown = await client.call('AUTH', 'gateway', 'wr0ng@s3cr3t').catch((reason: unknown) => reason)
    client.disconnect()
    expect(JSON.stringify(error)).toContain('s3cr3t')
    const lines: string[] = []
    createLogger('info', { write: (line) => lines.push(line) }).error({ err: error }, 'refused')
    expect(lines.join('')).toContain('WRONGPASS')
    expect(lines.join('')).not.toContain('s3cr3t')
  })
})
