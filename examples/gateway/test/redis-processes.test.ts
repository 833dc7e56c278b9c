import { EventEmitter, once } from 'node:events'
import { redisTests } from '@scoregw/redis-server'
import { ownTime, slowTests, withinOwnTime } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Answer, DEADLINE_MS, ENTRY, sender, tempDir, USER_TOKEN, usedOf } from './support/gateway.ts'
import { run, runGateway } from './support/process.ts'
import { redisServer } from './support/redis.ts'

const TOKENS = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }

type Send = ReturnType<typeof sender>

const upsert = (send: Send, dxScore = 1): Promise<Answer> =>
  send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, musicId: 102, dxScore }] } })
const read = (send: Send): Promise<Answer> => send('POST', '/v1/user/music')
const setOwn = async (send: Send, body: object): Promise<void> => {
  const answer = await send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body })
  expect(answer.status).toBe(200)
}
const countOf = (statuses: readonly number[], wanted: number): number =>
  statuses.filter((status) => status === wanted).length

describe.runIf(redisTests && slowTests)('two gateways on one Redis and one database', () => {
  it('two gateways share usage, scores and settings', async () => {
    const redis = await redisServer()
    const dataDir = tempDir()
    const env = { ...TOKENS, DATA_DIR_SHARED: 'true', REDIS_URL: redis.url }
    const children = await Promise.all([runGateway(dataDir, env), runGateway(dataDir, env)])
    expect(children[0].stdout()).toContain(`Counters        Redis 127.0.0.1:${redis.port}\n`)
    const [here, there] = children.map(({ baseUrl }) => sender(baseUrl)) as [Send, Send]

    // Use through one is visible in the other, and so are scores.
    expect((await upsert(here, 7)).status).toBe(200)
    expect(await usedOf({ send: there })).toEqual({ read: 0, write: 15 })
    const scores = (await read(there)).body.businessData.userMusicDetailList
    expect(scores).toContainEqual(expect.objectContaining({ musicId: 102, dxScore: 7 }))
    expect(await usedOf({ send: here })).toEqual({ read: 4, write: 15 })

    // Of many together, through both, exactly as many are admitted as the limit has room for.
    await setOwn(here, { overrides: { write: { '1h': 310, '5h': 310, '1d': 310 } } })
    await expect.poll(() => limitsOf(there), { interval: 10 }).toEqual([310, 310, 310])
    const load = Array.from({ length: 60 }, (_each, index) => upsert(index % 2 === 0 ? here : there))
    const statuses = (await Promise.all(load)).map(({ status }) => status)
    expect([countOf(statuses, 200), countOf(statuses, 429)]).toEqual([19, 41])
    for (const send of [here, there]) expect((await usedOf({ send })).write).toBe(300)
    expect((await upsert(there)).status).toBe(429)
  })

  it('settings apply everywhere as soon as they are stored, and a user’s within a second', async () => {
    const redis = await redisServer()
    const dataDir = tempDir()
    const env = { ...TOKENS, DATA_DIR_SHARED: 'true', REDIS_URL: redis.url }
    const children = await Promise.all([runGateway(dataDir, env), runGateway(dataDir, env)])
    const [here, there] = children.map(({ baseUrl }) => sender(baseUrl)) as [Send, Send]
    const { version: _, ...document } = (await here('GET', '/admin/quota/settings', { token: ADMIN_TOKEN })).body
    const set = async (limit: number): Promise<void> => {
      const personal = { ...document.base.personal, write: { '1h': limit, '5h': limit, '1d': limit } }
      const body = { ...document, base: { ...document.base, personal } }
      const put = { token: ADMIN_TOKEN, headers: { 'If-Match': '*' }, body }
      expect((await here('PUT', '/admin/quota/settings', put)).status).toBe(200)
    }
    expect((await upsert(there)).status).toBe(200)
    for (let round = 0; round < 20; round++) {
      await set(14)
      expect((await upsert(there)).status).toBe(429)
      await set(15_000)
      expect((await upsert(there)).status).toBe(200)
    }
    await setOwn(here, { overrides: { write: { '1h': 14 } } })
    await withinOwnTime(1_000, async () => expect((await upsert(there)).status).toBe(429))
  })
})

describe.runIf(redisTests && slowTests)('a Redis killed under load', () => {
  it('the failure policy decides immediately while Redis is down, and Redis is used again within a second', async () => {
    const redis = await redisServer({ aof: true })
    const child = await runGateway(tempDir(), { ...TOKENS, REDIS_URL: redis.url })
    const send = sender(child.baseUrl)
    const plenty = { '1h': 10 ** 6, '5h': 10 ** 6, '1d': 10 ** 6 }
    await setOwn(send, { overrides: { read: plenty, write: plenty }, bypassSite: true })
    const load = new Load({ write: () => upsert(send), read: () => read(send) })

    await load.until(() => load.answers.length >= 100)
    // On a busy machine a call may pass its deadline, and is then answered by the failure policy too.
    const early = load.answers.filter(({ durationMs }) => durationMs < DEADLINE_MS)
    expect(early.map(({ status }) => status)).toEqual(early.map(() => 200))
    await redis.kill()
    const killedAt = performance.now()
    // Soon Redis is not asked any more: what asks it waits for the deadline and can be no faster than that.
    await load.until(() => load.since(killedAt).filter(({ durationMs }) => durationMs < DEADLINE_MS).length >= 20)
    const away = load.since(killedAt)
    await redis.restart()
    const backAt = performance.now()
    const back = ownTime()
    await load.until(() => load.since(backAt).some(({ name, status }) => name === 'write' && status === 200))
    expect(ownTime() - back).toBeLessThan(1_000)
    const normalAt = performance.now()
    await load.until(() => load.since(normalAt).length >= 50)
    await load.stop()

    expect(away.filter(({ name }) => name === 'write').map(({ status }) => status)).toContain(503)
    for (const { name, status } of away) expect(status).toBe(name === 'write' ? 503 : 200)
    const late = load.since(normalAt).filter(({ durationMs }) => durationMs < DEADLINE_MS)
    expect(late.map(({ status }) => status)).toEqual(late.map(() => 200))
    for (const { status, retryAfter, error } of load.answers) {
      expect([200, 503]).toContain(status)
      if (status === 503) expect({ retryAfter, error }).toEqual({ retryAfter: '5', error: 'quota_unavailable' })
    }
    // Nothing that was acknowledged is forgotten; what got no answer may have been charged, as may one amid the kill.
    const admitted = load.answers.filter(({ name, status }) => name === 'write' && status === 200).length
    const { write } = await usedOf({ send })
    expect(write).toBeGreaterThanOrEqual(15 * admitted)
    const unanswered = load.answers.filter(({ name, status, durationMs }) => {
      return name === 'write' && status === 503 && durationMs >= DEADLINE_MS
    })
    expect(write).toBeLessThanOrEqual(15 * (admitted + 2 + unanswered.length))
    child.process.kill('SIGTERM')
    expect(await child.ended()).toEqual({ code: 0, signal: null })
  })

  it('a Redis frozen for 30 s refuses writes, and then has charged exactly what was admitted', async () => {
    const redis = await redisServer()
    const child = await runGateway(tempDir(), { ...TOKENS, REDIS_URL: redis.url, REDIS_DEADLINE_MS: '500' })
    const send = sender(child.baseUrl)
    const plenty = { '1h': 10 ** 6, '5h': 10 ** 6, '1d': 10 ** 6 }
    await setOwn(send, { overrides: { read: plenty, write: plenty }, bypassSite: true })
    const load = new Load({ write: () => upsert(send), read: () => read(send) })
    await load.until(() => load.answers.some(({ name, status }) => name === 'write' && status === 200))
    redis.pause()
    const pausedAt = performance.now()
    await load.until(() => performance.now() - pausedAt >= 30_000)
    const frozen = load.since(pausedAt)
    redis.resume()
    const resumedAt = performance.now()
    for (const kind of ['write', 'read']) {
      await load.until(() => load.since(resumedAt).some(({ name, status }) => name === kind && status === 200))
    }
    await load.stop()

    expect(frozen.length).toBeGreaterThan(20)
    for (const { name, status } of frozen) expect([name, status]).toEqual([name, name === 'write' ? 503 : 200])
    // A call isn't carried out after its caller has gone, and what was read meanwhile is charged.
    const admitted = (kind: string) => load.answers.filter(({ name, status }) => name === kind && status === 200).length
    const charged = { read: 4 * admitted('read'), write: 15 * admitted('write') }
    await expect.poll(() => usedOf({ send }), { timeout: 10_000 }).toEqual(charged)
  })

  it('a gateway starts and stops while Redis is down', async () => {
    const redis = await redisServer()
    await redis.kill()
    const REDIS_URL = `redis://:p4ssw0rd@127.0.0.1:${redis.port}`
    const child = await runGateway(tempDir(), { ...TOKENS, REDIS_URL })
    const send = sender(child.baseUrl)
    expect((await send('GET', '/healthz', { token: null })).status).toBe(200)
    expect((await send('GET', '/readyz', { token: null })).status).toBe(503)
    expect((await upsert(send)).status).toBe(503)
    child.process.kill('SIGTERM')
    expect(await child.ended()).toEqual({ code: 0, signal: null })
    expect(child.stdout() + child.stderr()).not.toContain('p4ssw0rd')
    expect(child.stderr()).toContain('Redis does not answer')
  })
})

describe.runIf(redisTests)('a Redis that may evict counters', () => {
  it('a Redis that may evict counters is a configuration fault', async () => {
    const redis = await redisServer({ args: ['--maxmemory-policy', 'volatile-ttl'] })
    const REDIS_URL = `redis://default:p4ssw0rd@127.0.0.1:${redis.port}`
    await redis.cli('CONFIG', 'SET', 'requirepass', 'p4ssw0rd')
    const child = run('main', [], { PORT: '0', SYNC_PORT: '0', CHARTS_PORT: '0', DATA_DIR: tempDir(), REDIS_URL })
    expect(await child.ended()).toEqual({ code: 78, signal: null })
    expect(child.stderr()).toMatch(/^The configuration has faults:\n {2}REDIS_URL: .*volatile-ttl/m)
    expect(child.stdout() + child.stderr()).not.toContain('p4ssw0rd')
  })
})

async function limitsOf(send: Send): Promise<number[]> {
  const { body } = await send('GET', '/me/quota')
  return body.windows.write.slice(0, 3).map(({ limit }: { limit: number }) => limit)
}

interface Timed {
  readonly name: string
  readonly status: number
  readonly retryAfter: string | null
  readonly error: unknown
  readonly startedAt: number
  readonly durationMs: number
}

/** Sends one request after the other of each kind, two at a time. */
class Load {
  readonly answers: Timed[] = []
  readonly #workers: Promise<void>[]
  readonly #events = new EventEmitter()
  #isOver = false

  constructor(kinds: Readonly<Record<string, () => Promise<Answer>>>) {
    this.#workers = Object.entries(kinds).flatMap(([name, call]) => [this.#work(name, call), this.#work(name, call)])
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await Promise.race([once(this.#events, 'answer'), ...this.#workers])
  }

  /** Answers to requests that were sent after an instant. */
  since(at: number): Timed[] {
    return this.answers.filter(({ startedAt }) => startedAt >= at)
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#workers)
  }

  async #work(name: string, call: () => Promise<Answer>): Promise<void> {
    while (!this.#isOver) {
      const startedAt = performance.now()
      const { status, headers, body } = await call()
      const durationMs = performance.now() - startedAt
      const retryAfter = headers.get('Retry-After')
      this.answers.push({ name, status, retryAfter, error: body.error, startedAt, durationMs })
      this.#events.emit('answer')
    }
  }
}
