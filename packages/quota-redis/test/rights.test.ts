import { readdirSync, readFileSync } from 'node:fs'
import { createQuota, QuotaError } from '@scoregw/quota'
import type { FactorState } from '@scoregw/quota/adaptive'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { describe, expect, it, vi } from 'vitest'
import {
  type RedisClient,
  redisBroadcast,
  redisFactor,
  redisOutcomes,
  redisSettings,
  redisStore,
} from '../src/index.ts'
import { leasedRedisStore } from '../src/leases.ts'
import { useCleanups } from './support/cleanups.ts'
import { policy, request } from './support/one-limit.ts'
import { redisTests } from './support/redis-server.ts'
import { grant, login, RIGHTS, warnings } from './support/rights.ts'

const { later, server } = useCleanups()

const CLIENTS: readonly (readonly [name: string, clientOf: (port: number) => RedisClient])[] = [
  ['ioredis', (port) => new Redis({ port, ...login, lazyConnect: true })],
  ['node-redis', (port) => createClient({ socket: { port, host: '127.0.0.1' }, ...login })],
]

describe.runIf(redisTests).each(CLIENTS)('rights of the Redis user, by %s', (_, clientOf) => {
  it('those of the guide are enough', async () => {
    const redis = await server()
    await grant(redis, RIGHTS)
    const client = clientOf(redis.port)
    const { logger, seen } = warnings()
    const settingsStore = redisSettings({ client, logger })
    for (const store of [redisStore({ client, logger }), leasedRedisStore({ client, logger })]) {
      const quota = createQuota({ policy, store, settingsStore, failurePolicy: { read: 'closed' } })
      later(() => quota.close())
      await quota.ready()
      const changed = await quota.settings.update({ limits: { perHour: 50 } })
      expect(changed).toMatchObject({ settings: { limits: { perHour: 50 } } })
      expect(await quota.consume(request)).toMatchObject({ allowed: true })
      const reservation = await quota.reserve({
        ...request,
        id: 'one',
        ...(store.can?.holds === true ? { ttlMs: 60_000 } : {}),
      })
      await reservation.commit()
      await quota.reset('u')
    }
    const outcomes = redisOutcomes({ client })
    later(() => outcomes.close())
    expect(await outcomes.read(0, 10)).toEqual([])
    expect(seen).toEqual([])
  })

  it.each([
    ['-eval', /eval/i],
    ['-evalsha', /evalsha/i],
    ['-time', /refuses TIME/],
    ['-setrange', /refuses SETRANGE/],
    ['-zadd', /refuses ZADD/],
    ['-@write', /refuses SET, SETRANGE, HSET, ZADD, ZREM, DEL/],
  ])('ready() of a user with %s names what is missing', async (missing, text) => {
    const redis = await server()
    await grant(redis, [...RIGHTS, missing])
    const client = clientOf(redis.port)
    for (const store of [redisStore({ client }), leasedRedisStore({ client })]) {
      later(() => store.close())
      await expect(store.ready()).rejects.toMatchObject({ code: 'store_error' })
      await expect(store.ready()).rejects.toThrow(text)
      await expect(store.ready()).rejects.toThrow(
        /Grant the Redis user of your client ~\{prefix\}\* &\{prefix\}\* \+@read/,
      )
    }
    expect(await redis.cli('KEYS', '*')).toEqual([])
  })

  it('ready() rejects keys of another prefix, and leaves nothing behind', async () => {
    const redis = await server()
    await grant(redis, ['~other*', ...RIGHTS.slice(1)])
    const store = redisStore({ client: clientOf(redis.port) })
    later(() => store.close())
    await expect(store.ready()).rejects.toThrow(/key.*Grant the Redis user/s)
  })

  it('a call that lacks a right names the rights', async () => {
    const redis = await server()
    await grant(redis, [...RIGHTS, '-time'])
    const store = redisStore({ client: clientOf(redis.port) })
    const quota = createQuota({ policy, store, failurePolicy: { read: 'closed' }, logger: false })
    later(() => quota.close())
    const error = await quota.consume(request).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(QuotaError)
    expect(String((error as QuotaError).cause)).toMatch(/Grant the Redis user of your client ~\{prefix\}/)
  })

  it('changes are made without the right to the channel, with one warning, and reach others', async () => {
    const redis = await server()
    // As users are made by default in Redis 7: all keys, all commands, no channel.
    await grant(redis, ['~*', '+@all', 'resetchannels'])
    const client = clientOf(redis.port)
    const { logger, seen } = warnings()
    const open = { client, logger }
    const [settings, factor, broadcast] = [
      redisSettings(open),
      redisFactor(open),
      redisBroadcast({ ...open, prefix: 'b' }),
    ]
    const others = { client: new Redis({ port: redis.port, lazyConnect: true }), logger: false } as const
    const [otherSettings, otherFactor, otherBroadcast] = [
      redisSettings(others),
      redisFactor(others),
      redisBroadcast({ ...others, prefix: 'b' }),
    ]
    later(() => {
      for (const each of [settings, factor, broadcast, otherSettings, otherFactor, otherBroadcast]) each.close()
    })
    const heard = { settings: vi.fn(), factor: vi.fn(), broadcast: vi.fn() }
    otherSettings.watch(heard.settings)
    otherFactor.watch(heard.factor)
    otherBroadcast.watch(heard.broadcast)
    for (const version of [1, 2]) {
      await vi.waitFor(() => expect(otherSettings.opening).toBeUndefined())
      for (const each of Object.values(heard)) each.mockClear()
      expect(await settings.write({ version }, { by: undefined })).toMatchObject({ written: true, version })
      expect(await factor.compareAndSet(version - 1, version, {} as FactorState)).toBe(true)
      await broadcast.announce(`r${version}`, { kind: 'settings' })
      for (const each of Object.values(heard)) await vi.waitFor(() => expect(each).toHaveBeenCalled(), 15_000)
    }
    expect(await settings.writeSubject('user', 'u', {}, { by: undefined })).toMatchObject({ written: true })
    expect(await otherSettings.read()).toMatchObject({ document: { version: 2 } })
    expect(await otherFactor.read()).toMatchObject({ version: 2 })
    const channels = ['{quota}:settings:changes', '{quota}:factor:changes', '{b}:settings:changes']
    expect(seen).toHaveLength(channels.length)
    for (const [index, channel] of channels.entries()) {
      expect(seen[index]).toMatchObject({
        code: 'no_channel_rights',
        docs: expect.stringMatching(/warnings\.md#no_channel_rights$/) as unknown,
        message: expect.stringContaining(channel) as unknown,
      })
    }
  })

  it('a watcher without the right to subscribe polls, with one warning', async () => {
    const redis = await server()
    await grant(redis, [...RIGHTS, 'resetchannels'])
    const { logger, seen } = warnings()
    const reader = redisSettings({ client: clientOf(redis.port), logger })
    const writer = redisSettings({ client: new Redis({ port: redis.port, lazyConnect: true }) })
    later(() => {
      reader.close()
      writer.close()
    })
    const heard = vi.fn()
    reader.watch(heard)
    await vi.waitFor(() => expect(seen).toEqual([expect.objectContaining({ code: 'no_channel_rights' })]), 15_000)
    heard.mockClear()
    await writer.write({ a: 1 }, { by: undefined })
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), 15_000)
    expect(seen).toHaveLength(1)
  })
})

describe('the script that tries rights', () => {
  it('tries every command of the scripts of calls', () => {
    const src = new URL('../src/', import.meta.url)
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /^(counters|leases|lua)\/.*\.lua$/.test(name),
    )
    const tried = readFileSync(new URL('lua/rights.lua', src), 'utf8')
    const commands = files
      .filter((name) => !/rights|publish/.test(name))
      .flatMap((name) => [...readFileSync(new URL(name, src), 'utf8').matchAll(/\bp?call\('([A-Z]+)'/g)])
      .map(([, command]) => command!)
    expect(commands).toContain('SETRANGE')
    for (const command of new Set(commands)) expect(tried).toContain(`{ '${command}'`)
  })
})
