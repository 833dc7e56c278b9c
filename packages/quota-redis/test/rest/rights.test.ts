import { createQuota, type QuotaError } from '@scoregw/quota'
import { startHttpFront } from '@scoregw/redis-server'
import { describe, expect, it, vi } from 'vitest'
import { redisRestStore } from '../../src/rest.ts'
import { useCleanups } from '../support/cleanups.ts'
import { policy, request } from '../support/one-limit.ts'
import { redisTests } from '../support/redis-server.ts'
import { grant, login, RIGHTS, warnings } from '../support/rights.ts'

const { later, server } = useCleanups()

/** A store by HTTP, on a server whose commands a user with these rights carries out, and an engine on it. */
async function openedWith(...rights: readonly string[]) {
  const redis = await server()
  await grant(redis, rights)
  const { url, token, stop } = await startHttpFront(redis.port, { user: login })
  later(stop)
  const { logger, seen } = warnings()
  const store = redisRestStore({ url, token, deadlineMs: 5_000, logger })
  const quota = createQuota({
    policy,
    store,
    settingsStore: store.settings,
    failurePolicy: { read: 'closed' },
    logger: false,
  })
  later(() => quota.close())
  return { redis, store, quota, seen }
}

describe.runIf(redisTests)('rights of the Redis user, by HTTP', () => {
  it('those of the guide are enough', async () => {
    const { quota, seen } = await openedWith(...RIGHTS)
    await quota.ready()
    await quota.settings.update({ limits: { perHour: 50 } })
    expect(await quota.consume(request)).toMatchObject({ allowed: true })
    const reservation = await quota.reserve({ ...request, id: 'one', ttlMs: 60_000 })
    await reservation.commit()
    await quota.reset('u')
    expect(seen).toEqual([])
  })

  it.each([
    ['-eval', /eval/i],
    ['-evalsha', /evalsha/i],
    ['-time', /refuses TIME/],
    ['-setrange', /refuses SETRANGE/],
    ['-@write', /refuses SET, SETRANGE, HSET, ZADD, ZREM, DEL/],
  ])('ready() of a user with %s names what is missing', async (missing, text) => {
    const { redis, store } = await openedWith(...RIGHTS, missing)
    await expect(store.ready()).rejects.toMatchObject({ code: 'store_error' })
    await expect(store.ready()).rejects.toThrow(text)
    await expect(store.ready()).rejects.toThrow(/Grant the Redis user of your client ~\{prefix\}\* &\{prefix\}\*/)
    expect(await redis.cli('KEYS', '*')).toEqual([])
  })

  it('a call that lacks a right names the rights', async () => {
    const { quota } = await openedWith(...RIGHTS, '-time')
    const error = await quota.consume(request).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'quota_unavailable', cause: { code: 'store_error' } })
    expect(String((error as QuotaError).cause)).toMatch(/Grant the Redis user of your client ~\{prefix\}/)
  })

  it('changes are made without the right to the channel, with one warning, and reach others', async () => {
    const { redis, store, quota, seen } = await openedWith('~*', '+@all', 'resetchannels')
    await quota.ready()
    const front = await startHttpFront(redis.port)
    later(() => front.stop())
    const other = redisRestStore({ url: front.url, token: front.token, deadlineMs: 5_000, logger: false })
    later(() => other.close())
    const heard = vi.fn()
    other.settings.watch(heard)
    await other.settings.read()
    for (const limit of [50, 60]) {
      await quota.settings.update({ limits: { perHour: limit } })
      heard.mockClear()
      expect(JSON.stringify(await other.settings.read())).toContain(String(limit))
      expect(heard).toHaveBeenCalled()
    }
    expect(await store.settings.writeSubject('user', 'u', {}, { by: undefined })).toMatchObject({ written: true })
    expect(seen).toEqual([
      expect.objectContaining({
        code: 'no_channel_rights',
        docs: expect.stringMatching(/warnings\.md#no_channel_rights$/) as unknown,
        message: expect.stringContaining('{quota}:settings:changes') as unknown,
      }),
    ])
  })
})
