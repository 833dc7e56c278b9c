import { randomUUID } from 'node:crypto'
import { createQuota, defaultPolicy, initialSettings, type SettingsChange, type SubjectSettings } from '@scoregw/quota'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { type RedisSettings, redisSettings } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

const { version: _, ...settings } = initialSettings(defaultPolicy())
const subjectSettings: SubjectSettings = { overrides: { read: { '1h': 7 } }, bypass: ['site'] }

function store(port: number, prefix?: string): RedisSettings {
  const client = new Redis({ port, lazyConnect: true })
  const opened = redisSettings(prefix === undefined ? { client } : { client, prefix })
  later(() => opened.close())
  return opened
}

/** Watches, and resolves when messages arrive: then every change is heard of, and nothing else. */
async function watch(opened: RedisSettings): Promise<SettingsChange[]> {
  const heard: SettingsChange[] = []
  const marker = { kind: 'subject', layer: 'marker', key: randomUUID() } as const
  let marked = false
  opened.watch((change) => {
    if (change.kind === 'subject' && change.key === marker.key) marked = true
    if (change.kind !== 'subject' || change.layer !== 'marker') heard.push(change)
  })
  await vi.waitFor(async () => {
    await opened.writeSubject(marker.layer, marker.key, null, {})
    await vi.waitFor(() => expect(marked).toBe(true), { timeout: 50, interval: 5 })
  })
  heard.length = 0
  return heard
}

describe.runIf(redisTests)('settings in Redis', () => {
  it('gives what was written, with a version that counts', async () => {
    const redis = await server()
    const one = store(redis.port)
    expect(await one.read()).toBeUndefined()
    expect(await one.write(settings, {})).toEqual({ written: true, version: 1 })
    expect(await one.write({ ...settings, mode: 'lenient' }, {})).toEqual({ written: true, version: 2 })
    expect(await one.read()).toEqual({ ...settings, mode: 'lenient', version: 2 })
    expect(await redis.cli('GET', '{quota}:settings:version')).toBe('2')
  })

  it('writes only over the version expected, whoever wrote it', async () => {
    const redis = await server()
    const [one, two] = [store(redis.port), store(redis.port)]
    expect(await one.write(settings, { ifVersion: 0 })).toEqual({ written: true, version: 1 })
    expect(await two.write(settings, { ifVersion: 0 })).toEqual({ written: false, version: 1 })
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : two).write(settings, { ifVersion: 1 })),
    )
    expect(replies.filter(({ written }) => written)).toEqual([{ written: true, version: 2 }])
    expect(await one.read()).toMatchObject({ version: 2 })
  })

  it('removes a subject and never repeats its versions', async () => {
    const redis = await server()
    const one = store(redis.port)
    expect(await one.writeSubject('personal', 'u', subjectSettings, { ifVersion: 0 })).toMatchObject({ version: 1 })
    expect(await one.readSubject('personal', 'u')).toEqual({ ...subjectSettings, version: 1 })
    expect(await one.writeSubject('personal', 'u', null, { ifVersion: 9 })).toEqual({ written: false, version: 1 })
    expect(await one.writeSubject('personal', 'u', null, { ifVersion: 1 })).toEqual({ written: true, version: 0 })
    expect(await one.readSubject('personal', 'u')).toBeUndefined()
    expect(await one.writeSubject('personal', 'u', null, { ifVersion: 1 })).toEqual({ written: false, version: 0 })
    expect(await one.writeSubject('personal', 'u', subjectSettings, { ifVersion: 0 })).toMatchObject({ version: 3 })
  })

  it('keeps prefixes, layers and subjects of any text apart', async () => {
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
      const bypass = [String(index)]
      expect(await one.writeSubject('personal', key, { overrides: {}, bypass }, { ifVersion: 0 })).toMatchObject({
        written: true,
      })
    }
    await one.writeSubject('team', 'a', { overrides: {}, bypass: ['team'] }, { ifVersion: 0 })
    for (const [index, key] of keys.entries()) {
      expect(await one.readSubject('personal', key)).toMatchObject({ bypass: [String(index)] })
    }
    expect(await store(redis.port, 'other').readSubject('personal', 'a')).toBeUndefined()
    const names = (await redis.cli('KEYS', '*')) as string[]
    expect(names.filter((name) => !name.startsWith('{quota}:'))).toEqual([])
  })

  it('tells of each change, also hostile keys, and of those of others within a second', async () => {
    const redis = await server()
    const [one, two] = [store(redis.port), store(redis.port)]
    const [own, others] = [await watch(one), await watch(two)]
    await one.write(settings, {})
    await one.writeSubject('personal', '\ud800:"', subjectSettings, {})
    await one.writeSubject('personal', '\ud800:"', null, {})
    const subject = { kind: 'subject', layer: 'personal', key: '\ud800:"' }
    await vi.waitFor(() => expect(others).toEqual([{ kind: 'settings' }, subject, subject]), { timeout: 400 })
    await vi.waitFor(() => expect(own).toEqual(others), { timeout: 400 })
  })

  it('stops telling when told to stop', async () => {
    const redis = await server()
    const one = store(redis.port)
    const stopped = vi.fn()
    const stop = one.watch(stopped)
    const heard = await watch(one)
    stopped.mockClear()
    stop()
    await one.write(settings, {})
    await vi.waitFor(() => expect(heard).toEqual([{ kind: 'settings' }]))
    expect(stopped).not.toHaveBeenCalled()
  })

  it('hears of a change within a second when messages are not allowed to it', async () => {
    const redis = await server()
    await redis.cli('ACL', 'SETUSER', 'deaf', 'on', 'nopass', '~*', '+@all', '-subscribe')
    const client = new Redis({ port: redis.port, username: 'deaf', password: 'any', lazyConnect: true })
    const deaf = redisSettings({ client })
    later(() => deaf.close())
    const heard: SettingsChange[] = []
    deaf.watch((change) => heard.push(change))
    await vi.waitFor(() => expect(heard).toEqual([{ kind: 'everything' }]))
    heard.length = 0
    await store(redis.port).write(settings, {})
    const before = performance.now()
    await vi.waitFor(() => expect(heard).toEqual([{ kind: 'everything' }]), { timeout: 1_000, interval: 5 })
    expect(performance.now() - before).toBeLessThan(1_000)
  })

  it('hears of a change whose message was lost on the way', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const behind = store(proxy.port)
    const heard = await watch(behind)
    // Both connections are dropped in mid-air and made anew; what happened meanwhile must be heard of.
    proxy.refuse(true)
    proxy.cutAll()
    await store(redis.port).write(settings, {})
    expect(heard).toEqual([])
    proxy.refuse(false)
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'everything' }), { timeout: 1_000 })
    expect(await behind.read()).toMatchObject({ version: 1 })
  })

  it('takes a gap between two messages, or one it cannot read, for a change of everything', async () => {
    const redis = await server()
    const heard = await watch(store(redis.port))
    const key = '{quota}:settings:changes'
    const gap = `redis.call('INCR', KEYS[1])
      redis.call('PUBLISH', KEYS[1], redis.call('INCR', KEYS[1]) .. ' {"kind":"settings"}')`
    await redis.cli('EVAL', gap, '1', key)
    await vi.waitFor(() => expect(heard).toEqual([{ kind: 'everything' }]), { timeout: 400 })
    for (const garbage of ['', 'x', '{}', '7 {', '8 null', '9 {"kind":"subject"}']) {
      heard.length = 0
      await redis.cli('PUBLISH', key, garbage)
      await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'everything' }), { timeout: 400 })
    }
  })

  it('keeps settings, and hears on, over a restart with an append-only file', async () => {
    const redis = await server({ aof: true })
    const [one, two] = [store(redis.port), store(redis.port)]
    await one.write(settings, {})
    await one.writeSubject('personal', 'u', subjectSettings, {})
    const heard = await watch(two)
    await redis.kill()
    await redis.restart()
    await vi.waitFor(async () => expect(await one.read()).toEqual({ ...settings, version: 1 }), { timeout: 1_000 })
    expect(await one.readSubject('personal', 'u')).toEqual({ ...subjectSettings, version: 1 })
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'everything' }), { timeout: 1_000 })
    expect(await one.write(settings, { ifVersion: 1 })).toEqual({ written: true, version: 2 })
    await vi.waitFor(async () => expect(await two.read()).toMatchObject({ version: 2 }))
  })

  it('writes nothing when the server is out of memory', async () => {
    const redis = await server()
    const one = store(redis.port)
    await one.writeSubject('personal', 'u', subjectSettings, {})
    const before = await redis.cli('DUMP', '{quota}:subject:personal:u')
    await redis.cli('CONFIG', 'SET', 'maxmemory', '1')
    await expect(one.writeSubject('personal', 'u', null, {})).rejects.toThrow(/OOM/)
    expect(await one.readSubject('personal', 'u')).toMatchObject({ version: 1 })
    await redis.cli('CONFIG', 'SET', 'maxmemory', '0')
    expect(await redis.cli('DUMP', '{quota}:subject:personal:u')).toBe(before)
    expect(await redis.cli('GET', '{quota}:subject:personal:u:version')).toBe('1')
  })

  it('rejects while the server is gone, and an engine goes on under the last known settings', async () => {
    const redis = await server()
    const one = store(redis.port)
    const heard = await watch(one)
    const quota = createQuota({ policy: defaultPolicy(), settingsStore: one })
    await quota.settings.update({ mode: 'lenient' })
    // What is read while a change comes in is not remembered.
    await vi.waitFor(() => expect(heard).toEqual([{ kind: 'settings' }]))
    await quota.status('known')
    await redis.kill()
    await expect(one.read()).rejects.toThrow()
    await expect(one.write(settings, {})).rejects.toMatchObject({ code: 'store_error' })
    await expect(quota.settings.update({ mode: 'normal' })).rejects.toThrow()
    const [hour] = (await quota.status('known')).windows.write ?? []
    expect(hour?.limit).toBe(90)
    await quota.close()
  })

  it('is asked once for a subject by an engine, which remembers the last 10,000', async () => {
    const redis = await server()
    const one = store(redis.port)
    await watch(one)
    const quota = createQuota({ policy: defaultPolicy(), settingsStore: one })
    const reads = async () =>
      Number(/cmdstat_mget:calls=(\d+)/.exec((await redis.cli('INFO', 'commandstats')) as string)?.[1])
    const names = Array.from({ length: 10_001 }, (_, index) => `u${index}`)
    await quota.ready()
    const before = await reads()
    for (let start = 0; start < names.length; start += 500) {
      await Promise.all(names.slice(start, start + 500).map((name) => quota.status(name)))
    }
    expect(await reads()).toBe(before + 10_001)
    await Promise.all(names.slice(-10).map((name) => quota.status(name)))
    expect(await reads()).toBe(before + 10_001)
    await quota.status('u0')
    expect(await reads()).toBe(before + 10_002)
    await quota.close()
  })

  it('refuses options that are wrong, naming each', () => {
    const wrong = { client: {}, prefix: 'a{b}', unknown: 1 } as unknown as Parameters<typeof redisSettings>[0]
    expect(() => redisSettings(wrong)).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringMatching(/client: .*prefix: .*unknown/s) as string,
      }),
    )
  })

  it('is closed for good, with no connection left', async () => {
    const redis = await server()
    const proxy = await startProxy(redis.port)
    const one = store(proxy.port)
    await watch(one)
    expect(proxy.openSockets()).toBe(2)
    one.close()
    await vi.waitFor(() => expect(proxy.openSockets()).toBe(0))
    await expect(one.read()).rejects.toMatchObject({ code: 'store_error' })
  })
})
