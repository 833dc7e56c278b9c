import { type HttpFront, type RedisServer, redisTests, startHttpFront, startRedis } from '@scoregw/redis-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServerFinding } from '../src/doctor/finding.ts'
import { runCli } from './run-cli.ts'

type FrontOptions = Parameters<typeof startHttpFront>[1]

describe.runIf(redisTests)('quota doctor by HTTP', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  async function examined(options: FrontOptions, token?: string) {
    // A database that never had the script.
    await redis.cli('SCRIPT', 'FLUSH')
    const front: HttpFront = await startHttpFront(redis.port, options)
    try {
      const env = { UPSTASH_REDIS_REST_TOKEN: token ?? front.token }
      const { code, out, err } = await runCli(['doctor', front.url, '--json', '--timeout', '10'], { env })
      expect(out + err).not.toContain(env.UPSTASH_REDIS_REST_TOKEN)
      const { findings } = JSON.parse(out || '{"findings":[]}') as { findings: ServerFinding[] }
      return { code, err, findings, faults: findings.filter(({ level }) => level === 'fault') }
    } finally {
      await front.stop()
    }
  }

  it('doctor tests the library, sizes and decisions and leaves no data', async () => {
    const { code, findings } = await examined({})
    expect(code).toBe(0)
    const texts = findings.map(({ about, message }) => `${about}: ${message}`)
    expect(texts).toEqual([
      'lua: struct is there',
      'scripts: of 48 KiB are accepted',
      'decisions: made and refused; settings kept',
      'eviction: noeviction',
      expect.stringMatching(/^clock: /),
      expect.stringMatching(/^latency: /),
    ])
    const keys = (await redis.cli('KEYS', '*')) as string[]
    const lasting = await Promise.all(keys.map(async (key) => (await redis.cli('PTTL', key)) === -1))
    expect(lasting).not.toContain(true)
  })

  it('doctor reports a missing Lua library', async () => {
    const { code, faults } = await examined({ lua: 'local struct = nil' })
    expect(code).toBe(1)
    expect(faults.map(({ about }) => about)).toEqual(['lua', 'decisions'])
    expect(faults[1]?.message).toContain('struct')
  })

  it('doctor reports a size limit below the scripts’ length', async () => {
    const { code, faults } = await examined({ maxScript: 8_192 })
    expect(code).toBe(1)
    expect(faults.map(({ about }) => about)).toEqual(['scripts', 'decisions'])
    expect(faults[0]?.message).toContain('max request size exceeded')
  })

  it('doctor reports a wrong token without showing it', async () => {
    const { code, err } = await examined({}, 'a-wrong-token')
    expect(code).toBe(3)
    expect(err).toContain('WRONGPASS')
  })

  it.each([
    ['https://user:hunter2-secret@db.example', 't', /not the address/],
    ['https://db.example?_token=hunter2-secret', 't', /not the address/],
    ['https://db.example', undefined, /token is missing/],
    ['https://db.example', 'hunter2-secret\n', /the token is missing or invalid/],
  ] as const)('doctor shows no part of a wrong address or token: %s', async (url, token, says) => {
    const { code, out, err } = await runCli(['doctor', url], { env: { UPSTASH_REDIS_REST_TOKEN: token } })
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(says)
    expect(err).not.toContain('hunter2')
  })
})
