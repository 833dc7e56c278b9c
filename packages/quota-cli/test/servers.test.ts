import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { createQuota, parsePolicy } from '@scoregw/quota'
import { redisSettings, redisStore } from '@scoregw/quota-redis'
import { type RedisServer, redisTests, startCluster, startRedis } from '@scoregw/redis-server'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServerFinding } from '../src/doctor/finding.ts'
import type { Usage } from '../src/top/usage.ts'
import { runCli } from './run-cli.ts'
import { fileOf, removeFiles } from './temporary.ts'

afterAll(removeFiles)

const SECRET = 'hunter2-secret'
const DEFINITION = {
  limits: {
    reads: { by: 'user', limit: 120, per: '1h', for: 'read' },
    writes: { by: 'user', limit: 60, per: '1h', for: 'write' },
    daily: { by: 'user', limit: 1_000, per: '1d' },
    'team/writes': { by: 'team', limit: 500, per: '1h', for: 'write' },
    service: { shared: 'service', limit: 1_500, per: '1h', for: 'write' },
  },
  operations: { read: {}, write: {} },
  plans: { 'cloud:pro': { reads: 500 } },
}
const POLICY = fileOf(DEFINITION)

describe.runIf(redisTests)('the command line on a Redis', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis({ aof: true })
    await fill(server.url, 'quota')
  })
  afterAll(() => server.stop())

  async function found(url: string, ...options: readonly string[]): Promise<Record<string, ServerFinding>> {
    const { out } = await runCli(['doctor', url, '--json', ...options])
    const { findings } = JSON.parse(out) as { findings: ServerFinding[] }
    return Object.fromEntries(findings.map((each) => [each.about, each]))
  }

  it('doctor finds no fault in a good server and counts the policy’s keys', async () => {
    const { code, out, err } = await runCli(['doctor', server.url, '--policy', POLICY])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/0 faults, 0 warnings\n$/)
    expect((await found(server.url, '--policy', POLICY)).rows?.message).toBe('of the policy: user 2, team 1, service 1')
  })

  it('doctor shows the stored numbers by limit, of all subjects and of each', async () => {
    const { out } = await runCli(['doctor', server.url, '--policy', POLICY])
    const values = out.split('\n').flatMap((line) => /^ok +(?:settings|subject) +(.*)$/.exec(line)?.[1] ?? [])
    expect(values.toSorted()).toEqual([
      'team blue: team/writes 45 of 500',
      'user ann: reads 50 of 500 (plan), writes 45 of 50 (subject), daily 95 of 1,000, plan cloud:pro',
      'user bo?b: reads 0 of 120, writes 10 of 60, daily 10 of 1,000',
      'user eve: reads 0 of 120, writes 0 of 60, daily 0 of 1,000, blocked',
      'version 1, mode normal; service 2,000 instead of 1,500',
    ])
  })

  it('doctor reports settings that lose or evict counters and rows of unknown policies', async () => {
    const bad = await startRedis({ args: ['--maxmemory', '3mb', '--maxmemory-policy', 'allkeys-lru'] })
    try {
      const empty = await found(bad.url)
      expect(empty.eviction).toMatchObject({ level: 'fault', message: expect.stringContaining('allkeys-lru') })
      expect(empty.persistence).toMatchObject({ level: 'warning' })
      expect(empty.keys).toMatchObject({ level: 'warning', message: 'none under {quota}' })
      expect((await runCli(['doctor', bad.url])).code).toBe(1)
      const other = fileOf({ limits: { other: { by: 'tenant', limit: 5, per: '1h' } } })
      expect((await found(server.url, '--policy', other)).rows).toMatchObject({
        level: 'warning',
        message: expect.stringMatching(/^4 rows that the policy does not name/),
      })
    } finally {
      await bad.stop()
    }
  })

  it('doctor recognizes a replica and asks for its primary', async () => {
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(server.port)] })
    try {
      expect((await found(replica.url)).role).toMatchObject({
        level: 'fault',
        mend: `connect to its primary, 127.0.0.1:${server.port}`,
      })
    } finally {
      await replica.stop()
    }
  })

  it('top shows the heaviest subjects and the shared usage under the settings in force', async () => {
    const { code, out, err } = await runCli(['top', server.url, '--policy', POLICY, '--once'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toMatch(/ann +writes +45 +50 +90 % .*\n/)
    expect(out).toMatch(/service +service +55 +2,000/)
    const json = JSON.parse((await runCli(['top', server.url, '--policy', POLICY, '--json'])).out) as Usage
    expect(json).toMatchObject({ rows: 3, isSample: false })
    expect(json.hottest[0]).toMatchObject({ layer: 'user', subject: 'ann', name: 'writes', used: 45, limit: 50 })
    expect(json.hottest.map(({ subject }) => subject)).toContain('bo\u0000b')
    // By the used share of a limit, not by the amount: fifty of five hundred are less than forty-five of fifty.
    const hourly = json.hottest.filter(({ name }) => ['reads', 'writes'].includes(name))
    expect(hourly.map(({ used }) => used)).toEqual([45, 10, 50])
    expect(json.hottest).toContainEqual(expect.objectContaining({ layer: 'team', subject: 'blue', used: 45 }))
    expect(out).not.toContain('\u0000')
  })

  it('top reads at most its maximum of rows and shows an empty store', async () => {
    const sample = JSON.parse(
      (await runCli(['top', server.url, '--policy', POLICY, '--json', '--sample', '1'])).out,
    ) as Usage
    expect(sample).toMatchObject({ rows: 1, isSample: true })
    const { code, out } = await runCli(['top', server.url, '--policy', POLICY, '--prefix', 'other', '--once'])
    expect(code).toBe(0)
    expect(out).toContain('nothing is used')
  })

  it('top says how many keys are stored as hashes, since it can’t read their counters', async () => {
    await fill(server.url, 'hashed', 'u'.repeat(201))
    const { out } = await runCli(['top', server.url, '--policy', POLICY, '--prefix', 'hashed', '--once'])
    expect(out).toContain('1 row of keys above 200 bytes not listed')
    expect(out).not.toContain('sha256')
    expect(out).toMatch(/blue +team\/writes +45/)
  })

  it('top refreshes on a terminal until it is interrupted', async () => {
    const interrupt = new AbortController()
    let looks = ''
    await runCli(['top', server.url, '--policy', POLICY, '--interval', '1'], {
      isTerminal: true,
      signal: interrupt.signal,
      out: (text) => {
        looks += text
        if (looks.split('\u001b[2J').length > 2) interrupt.abort()
      },
    })
    expect(looks.match(/ann/g)?.length).toBeGreaterThanOrEqual(2)
  })
})

describe.runIf(redisTests && process.env.QUOTA_TEST_DEEP === '1')('the command line on a cluster', () => {
  it('top and doctor find the rows on a cluster', async () => {
    const cluster = await startCluster({ replicas: 0 })
    try {
      const [node] = cluster.nodes
      const url = node?.url ?? ''
      const { Cluster } = await import('ioredis')
      const client = new Cluster([...cluster.seeds])
      const quota = createQuota({ policy: parsePolicy(DEFINITION), store: redisStore({ client, deadlineMs: 1_000 }) })
      await quota.consume({ subject: { user: 'ann', team: null }, operation: 'write', cost: 45 })
      await quota.close()
      client.disconnect()
      expect((await runCli(['top', url, '--policy', POLICY, '--once'])).out).toMatch(/ann +writes +45/)
      expect((await runCli(['doctor', url, '--policy', POLICY])).out).toContain('user 1')
    } finally {
      await cluster.stop()
    }
  }, 60_000)
})

describe('servers that can’t be used', () => {
  it.each([
    [
      'doctor',
      'redis://127.0.0.1:1',
      3,
      /^quota-cli: redis:\/\/127.0.0.1:1: nothing listens there\n {2}start the server/,
    ],
    ['doctor', 'redis://nowhere.invalid', 3, /^quota-cli: redis:\/\/nowhere.invalid:6379: unknown host\n/],
    ['doctor', `ftp://user:${SECRET}@host`, 2, /^quota-cli: not the address of a Redis\n {2}write redis:/],
    ['doctor', SECRET, 2, /^quota-cli: not the address of a Redis\n/],
    ['top', 'redis://127.0.0.1:1', 3, /nothing listens there/],
  ])('%s reports a server that can’t be used: %s', async (command, url, expected, message) => {
    const { code, out, err } = await runCli([command, url, ...(command === 'top' ? ['--policy', POLICY] : [])])
    expect([code, out]).toEqual([expected, ''])
    expect(err).toMatch(message)
    expect(err).not.toContain(SECRET)
  })

  it('a server with another protocol and a silent one are reported as such', async () => {
    const web = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
    const silent = createTcpServer((socket) => socket.resume()).listen(0, '127.0.0.1')
    await Promise.all([once(web, 'listening'), once(silent, 'listening')])
    const portOf = (each: { address(): unknown }): number => (each.address() as AddressInfo).port
    try {
      const [wrong, mute] = await Promise.all([
        runCli(['doctor', `redis://:${SECRET}@127.0.0.1:${portOf(web)}`]),
        runCli(['doctor', `redis://127.0.0.1:${portOf(silent)}`, '--timeout', '1']),
      ])
      expect([wrong.code, mute.code]).toEqual([3, 3])
      expect(wrong.err).toMatch(/: it answers, but is not a Redis\n {2}correct the port/)
      expect(mute.err).toMatch(/: it does not answer\n/)
      expect(wrong.err).not.toContain(SECRET)
    } finally {
      web.close()
      web.closeAllConnections()
      silent.close()
    }
  })

  it.runIf(redisTests)('a missing or wrong password is reported and never shown', async () => {
    const server = await startRedis({ args: ['--requirepass', SECRET] })
    const withPassword = (password: string): string => server.url.replace('redis://', `redis://:${password}@`)
    try {
      const [missing, wrong, right, inEnv] = [
        await runCli(['doctor', server.url]),
        await runCli(['doctor', withPassword(`${SECRET}-not`)]),
        await runCli(['doctor', withPassword(SECRET)]),
        await runCli(['doctor', server.url], { env: { REDIS_PASSWORD: SECRET } }),
      ]
      expect([missing, wrong, right, inEnv].map(({ code }) => code)).toEqual([3, 3, 0, 0])
      expect(missing.err).toContain('it requires a password')
      expect(wrong.err).toContain('the password is wrong')
      for (const { out, err } of [missing, wrong, right, inEnv]) expect(out + err).not.toContain(SECRET)
    } finally {
      await server.stop()
    }
  })
})

/** Rows of two users, a team and all; an administrator's settings, also of a user without counters. */
async function fill(url: string, prefix: string, user = 'ann'): Promise<void> {
  const client = new Redis(url)
  const store = redisStore({ client, prefix, deadlineMs: 1_000 })
  const policy = parsePolicy(DEFINITION)
  const quota = createQuota({ policy, store, settingsStore: redisSettings({ client, prefix }) })
  await quota.consume({ subject: { user, team: 'blue' }, operation: 'write', cost: 45 })
  await quota.consume({ subject: { user: 'bo\u0000b', team: null }, operation: 'write', cost: 10 })
  await quota.consume({ subject: { user, team: null }, operation: 'read', cost: 50 })
  await quota.settings.update({ limits: { service: 2_000 } })
  await quota.subjects.set({ user }, { plan: 'cloud:pro', limits: { writes: 50 } })
  await quota.subjects.set({ user: 'eve' }, { blocked: true })
  await quota.close()
  client.disconnect()
}
