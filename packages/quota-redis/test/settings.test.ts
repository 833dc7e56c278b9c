import { randomUUID } from 'node:crypto'
import { createQuota, type SubjectSettings } from '@scoregw/quota'
import { cellsIn, initialSettings, windowCell } from '@scoregw/quota/internal'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import type { SettingsChange } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { withinOwnTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { type RedisSettings, redisSettings, redisStore } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

const { version: _, ...settings } = initialSettings(scoreGatewayPolicy())
/** A change is known by its message long before a poll, ... */
const NOTIFIED_MS = 400
/** ... which is done each second, and takes a moment. */
const LOOKED_MS = 1_100
const subjectSettings: SubjectSettings = {
  limits: { 'personal-read-1h': 7 },
  bypass: { site: true },
  plan: null,
  blocked: false,
  until: { limits: null, plan: null, blocked: null },
  anchor: null,
}

function store(port: number, prefix?: string): RedisSettings {
  const client = new Redis({ port, lazyConnect: true })
  const opened = redisSettings(prefix === undefined ? { client } : { client, prefix })
  later(() => opened.close())
  return opened
}

/** Watches, and resolves when messages arrive: then every change is reported. */
async function watch(opened: RedisSettings): Promise<SettingsChange[]> {
  const heard: SettingsChange[] = []
  const marker = { kind: 'subject', layer: 'marker', key: randomUUID() } as const
  let marked = false
  opened.watch((change) => {
    if (change.kind === 'subject' && change.key === marker.key) marked = true
    if (change.kind !== 'subject' || change.layer !== 'marker') heard.push(change)
  })
  await vi.waitFor(
    async () => {
      await opened.writeSubject(marker.layer, marker.key, null, {})
      await vi.waitFor(() => expect(marked).toBe(true), { timeout: 50, interval: 5 })
    },
    { timeout: 15_000 },
  )
  heard.length = 0
  return heard
}

/** A poll while a message is in flight reports `everything` as well. */
const named = (heard: readonly SettingsChange[]): SettingsChange[] => heard.filter(({ kind }) => kind !== 'everything')

describe.runIf(redisTests)('settings in Redis', () => {
  it('revision, version and document are in one key that starts with the revision', async () => {
    const redis = await server()
    const one = store(redis.port)
    const { revision } = await one.write(settings, {})
    expect(revision).toMatch(/^[\w-]{22}$/)
    expect(await redis.cli('GET', '{quota}:settings')).toBe(`${revision} 1 ${JSON.stringify(settings)}`)
    await one.writeSubject('personal', 'u', subjectSettings, {})
    await one.writeSubject('personal', 'u', null, {})
    expect(await redis.cli('GET', '{quota}:subject:personal:u')).toBe('2')
    expect(await one.writeSubject('personal', 'u', subjectSettings, { ifRevision: '' })).toMatchObject({ version: 3 })
  })

  it('settings with any stored content are returned with the script’s revision', async () => {
    const redis = await server()
    const one = store(redis.port)
    const counters = redisStore({ client: new Redis({ port: redis.port, lazyConnect: true }), deadlineMs: 1_000 })
    later(() => counters.close())
    const opened = counters.open(
      uniform(['tokens'], cellsIn(['tokens'], [windowCell({ label: '1h', lengthMs: 3_600_000 })]), [
        { name: 'personal', shared: false },
      ]),
    )
    const request = {
      subject: 'u',
      set: 0,
      quotas: { layers: [0], limits: [9] },
      costs: [1, 0],
      settingsRevision: '-',
    }
    const revision = 'R'.repeat(22)
    for (const text of [
      '{',
      'x',
      revision,
      `${revision} 7`,
      `${revision} 7 {`,
      `${revision} x {}`,
      '\0',
      '配额'.repeat(9),
    ]) {
      await redis.cli('SET', '{quota}:settings', text)
      const stored = (await one.read())!
      const document = text === `${revision} 7 {` ? '{' : text
      expect(stored).toMatchObject({ document, version: text === `${revision} 7 {` ? 7 : 0 })
      expect((await opened.take(request)).settingsRevision).toBe(stored.revision)
      expect((await opened.take({ ...request, settingsRevision: stored.revision })).outcome).toBe('admitted')
      expect(await one.write(settings, { ifRevision: 'another' })).toMatchObject({ written: false })
      expect(await one.write(settings, { ifRevision: stored.revision })).toMatchObject({ written: true })
    }
  })

  it('prefixes, layers and subjects of any text are kept apart', async () => {
    const redis = await server()
    const one = store(redis.port)
    const keys = [
      'a',
      'A',
      ' a',
      'a:version',
      'a:b',
      '%61',
      '',
      '\0',
      '{x}',
      'é',
      'e\u0301',
      '用户',
      '\ud800',
      '\ud801',
    ]
    keys.push('$00d8', '%2400d8', '\ufffd', '\ud800\udc00', '\udc00\ud800', 'x'.repeat(256), '../*', "'", '!', '\r\n')
    for (const [index, key] of keys.entries()) {
      const limits = { number: index }
      expect(await one.writeSubject('personal', key, { limits }, { ifRevision: '' })).toMatchObject({
        written: true,
      })
    }
    await one.writeSubject('team', 'a', { limits: { number: -1 } }, { ifRevision: '' })
    for (const [index, key] of keys.entries()) {
      expect(await one.readSubject('personal', key)).toMatchObject({ document: { limits: { number: index } } })
    }
    expect(await store(redis.port, 'other').readSubject('personal', 'a')).toBeUndefined()
    const names = (await redis.cli('KEYS', '*')) as string[]
    expect(names.filter((name) => !name.startsWith('{quota}:'))).toEqual([])
  })

  it('every settings change is reported within a second, with any key and from any process', async () => {
    const redis = await server()
    const [one, two] = [store(redis.port), store(redis.port)]
    const [own, others] = [await watch(one), await watch(two)]
    await one.write(settings, {})
    await one.writeSubject('personal', '\ud800:"', subjectSettings, {})
    await one.writeSubject('personal', '\ud800:"', null, {})
    const subject = { kind: 'subject', layer: 'personal', key: '\ud800:"' }
    for (const heard of [others, own]) {
      await withinOwnTime(NOTIFIED_MS, () => expect(named(heard)).toEqual([{ kind: 'settings' }, subject, subject]))
    }
  })

  it('removed listeners aren’t notified', async () => {
    const redis = await server()
    const one = store(redis.port)
    const stopped = vi.fn()
    const stop = one.watch(stopped)
    const heard = await watch(one)
    stopped.mockClear()
    stop()
    await one.write(settings, {})
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'settings' }), { timeout: 15_000 })
    expect(stopped).not.toHaveBeenCalled()
  })

  it('a settings change arrives within a second if messages are forbidden', async () => {
    const redis = await server()
    await redis.cli('ACL', 'SETUSER', 'deaf', 'on', 'nopass', '~*', '+@all', '-subscribe')
    const client = new Redis({ port: redis.port, username: 'deaf', password: 'any', lazyConnect: true })
    const deaf = redisSettings({ client })
    later(() => deaf.close())
    const heard: SettingsChange[] = []
    deaf.watch((change) => heard.push(change))
    await vi.waitFor(() => expect(heard).toEqual([{ kind: 'everything' }]), { timeout: 15_000 })
    heard.length = 0
    await store(redis.port).write(settings, {})
    await withinOwnTime(LOOKED_MS, () => expect(heard).toEqual([{ kind: 'everything' }]))
  })

  it('a settings change arrives although its message was lost', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const behind = store(proxy.port)
    const heard = await watch(behind)
    // Both connections are dropped in mid-air and made again; changes in between must be reported.
    proxy.refuse(true)
    proxy.cutAll()
    await store(redis.port).write(settings, {})
    expect(heard).toEqual([])
    proxy.refuse(false)
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'everything' }), { timeout: 15_000 })
    expect(await behind.read()).toMatchObject({ version: 1 })
  })

  it('a gap between messages or an unreadable one counts as a change of everything', async () => {
    const redis = await server()
    const heard = await watch(store(redis.port))
    const key = '{quota}:settings:changes'
    const gap = `redis.call('SET', KEYS[1], 'third')
      redis.call('PUBLISH', KEYS[1], 'second third {"kind":"settings"}')`
    await redis.cli('EVAL', gap, '1', key)
    await withinOwnTime(NOTIFIED_MS, () => expect(heard).toEqual([{ kind: 'everything' }]))
    for (const garbage of ['', 'x', '{}', 'third fourth {', 'third third null', 'x y {"kind":"subject"}']) {
      heard.length = 0
      await redis.cli('PUBLISH', key, garbage)
      await withinOwnTime(NOTIFIED_MS, () => expect(heard).toContainEqual({ kind: 'everything' }))
    }
  })

  it('settings survive a restart with an append-only file, and changes still arrive', async () => {
    const redis = await server({ aof: true })
    const [one, two] = [store(redis.port), store(redis.port)]
    const { revision } = await one.write(settings, {})
    await one.writeSubject('personal', 'u', subjectSettings, {})
    const heard = await watch(two)
    await redis.kill()
    await redis.restart()
    const stored = { document: settings, version: 1, revision }
    await vi.waitFor(async () => expect(await one.read()).toEqual(stored), { timeout: 15_000 })
    expect(await one.readSubject('personal', 'u')).toMatchObject({ document: subjectSettings, version: 1 })
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'everything' }), { timeout: 15_000 })
    expect(await one.write(settings, { ifRevision: revision })).toMatchObject({ written: true, version: 2 })
    await vi.waitFor(async () => expect(await two.read()).toMatchObject({ version: 2 }), { timeout: 15_000 })
  })

  it('settings aren’t written when the server is out of memory', async () => {
    const redis = await server()
    const one = store(redis.port)
    await one.writeSubject('personal', 'u', subjectSettings, {})
    const before = await redis.cli('DUMP', '{quota}:subject:personal:u')
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1')
    await expect(one.writeSubject('personal', 'u', null, {})).rejects.toThrow(/OOM/)
    expect(await one.readSubject('personal', 'u')).toMatchObject({ version: 1 })
    await redis.cli('CONFIG', 'SET', 'maxmemory', '0')
    expect(await redis.cli('DUMP', '{quota}:subject:personal:u')).toBe(before)
  })

  it('settings calls reject while the server is gone, and engines keep the last known settings', async () => {
    const redis = await server()
    const one = store(redis.port)
    const heard = await watch(one)
    const quota = createQuota({ policy: scoreGatewayPolicy(), settingsStore: one })
    await quota.settings.update({ mode: 'lenient' })
    // A document read while a change comes in is not cached.
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'settings' }), { timeout: 15_000 })
    await quota.status('known')
    await redis.kill()
    await expect(one.read()).rejects.toThrow()
    // Until the client has noticed, calls reject with its own error.
    await vi.waitFor(() => expect(one.write(settings, {})).rejects.toMatchObject({ code: 'store_error' }), {
      timeout: 15_000,
    })
    await expect(quota.settings.update({ mode: 'normal' })).rejects.toThrow()
    expect((await quota.status('known')).limits['personal-write-1h']?.limit).toBe(90)
    await quota.close()
  })

  it('a hold grows under the stored limits, even if its process doesn’t have them yet', async () => {
    const redis = await server()
    const engine = (settingsStore: RedisSettings) => {
      const client = new Redis({ port: redis.port, lazyConnect: true })
      const quota = createQuota({ policy: scoreGatewayPolicy(), store: redisStore({ client }), settingsStore })
      later(() => quota.close())
      return quota
    }
    const deaf = Object.assign(store(redis.port), { watch: () => () => undefined })
    const [holder, other] = [engine(deaf), engine(store(redis.port))]
    const hold = await holder.reserve({ subject: 'u', operation: 'write', ttlMs: 60_000 })
    if (hold.status !== 'reserved') throw new Error(hold.status)
    await other.settings.update({ limits: { 'personal-write-1h': 20 } })
    const grown = await hold.add(30)
    expect(grown.allowed).toBe(false)
    expect(grown.limits['personal-write-1h']?.limit).toBe(20)
    expect((await hold.add(19)).allowed).toBe(true)
  })

  it.runIf(process.env.QUOTA_TEST_DEEP === '1')(
    'an engine reads a subject’s settings once and keeps the last 10,000 subjects',
    async () => {
      const redis = await server()
      const one = store(redis.port)
      await watch(one)
      const quota = createQuota({ policy: scoreGatewayPolicy(), settingsStore: one })
      const reads = vi.spyOn(one, 'readSubject')
      const names = Array.from({ length: 10_001 }, (_, index) => `u${index}`)
      await quota.ready()
      for (let start = 0; start < names.length; start += 500) {
        await Promise.all(names.slice(start, start + 500).map((name) => quota.status(name)))
      }
      expect(reads).toHaveBeenCalledTimes(10_001)
      await Promise.all(names.slice(-10).map((name) => quota.status(name)))
      expect(reads).toHaveBeenCalledTimes(10_001)
      await quota.status('u0')
      expect(reads).toHaveBeenCalledTimes(10_002)
      await quota.close()
    },
  )

  it('redisSettings() rejects invalid options, naming each', () => {
    const wrong = { client: {}, prefix: 'a{b}', unknown: 1 } as unknown as Parameters<typeof redisSettings>[0]
    expect(() => redisSettings(wrong)).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringMatching(/client: .*prefix: .*unknown/s) as string,
      }),
    )
  })

  it('closed settings reject calls and have no connections', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const one = store(proxy.port)
    await watch(one)
    expect(proxy.openSockets()).toBe(2)
    one.close()
    await vi.waitFor(() => expect(proxy.openSockets()).toBe(0), { timeout: 15_000 })
    await expect(one.read()).rejects.toMatchObject({ code: 'store_error' })
  })
})
