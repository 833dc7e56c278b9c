import { randomUUID } from 'node:crypto'
import { createQuota, memorySettings } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import type { AsyncSettingsStore, SettingsChange, StoreWriteOptions } from '@scoregw/quota/store'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { type RedisBroadcast, redisBroadcast } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const { later, server, proxy: startProxy } = useCleanups()

function broadcast(port: number): RedisBroadcast {
  const opened = redisBroadcast({ client: new Redis({ port, lazyConnect: true }) })
  later(() => opened.close())
  return opened
}

/** Watches, and resolves when messages arrive: then every change is reported. */
async function watch(opened: RedisBroadcast): Promise<SettingsChange[]> {
  const heard: SettingsChange[] = []
  const marker = { kind: 'subject', layer: 'marker', key: randomUUID() } as const
  let marked = false
  opened.watch((change) => {
    if (change.kind === 'subject' && change.key === marker.key) marked = true
    if (change.kind !== 'subject' || change.layer !== 'marker') heard.push(change)
  })
  await vi.waitFor(
    async () => {
      await opened.announce('', marker)
      await vi.waitFor(() => expect(marked).toBe(true), { timeout: 50, interval: 5 })
    },
    { timeout: 15_000 },
  )
  heard.length = 0
  return heard
}

describe.runIf(redisTests)('broadcasts of settings stored elsewhere', () => {
  it('an announcement notifies other processes and updates the script’s revision', async () => {
    const redis = await server()
    const heard = await watch(broadcast(redis.port))
    const teller = broadcast(redis.port)
    await teller.announce('third', { kind: 'settings' })
    await teller.announce('third', { kind: 'subject', layer: 'personal', key: '\ud800' })
    await vi.waitFor(
      () =>
        expect(heard).toEqual(
          expect.arrayContaining([{ kind: 'settings' }, { kind: 'subject', layer: 'personal', key: '\ud800' }]),
        ),
      { timeout: 15_000 },
    )
    expect(await redis.cli('GET', '{quota}:settings')).toBe('third')
  })

  it('an announcement is repeated only over the revision that was seen, and notifies every process', async () => {
    const redis = await server()
    const teller = broadcast(redis.port)
    const heard = await watch(broadcast(redis.port))
    await teller.reannounce('first', 'never announced')
    expect(await redis.cli('GET', '{quota}:settings')).toBe('')
    await teller.reannounce('first', '')
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'everything' }), { timeout: 15_000 })
    await teller.reannounce('second', '')
    expect(await redis.cli('GET', '{quota}:settings')).toBe('first')
    await teller.reannounce('second', 'first')
    expect(await redis.cli('GET', '{quota}:settings')).toBe('second')
  })

  it('an announcement that failed is repeated', async () => {
    const redis = await server({ aof: true })
    const proxy = await startProxy(redis.port)
    const heard = await watch(broadcast(redis.port))
    const teller = broadcast(proxy.port)
    await teller.announce('1', { kind: 'settings' })
    proxy.refuse(true)
    proxy.cutAll()
    await expect(teller.announce('2', { kind: 'settings' })).rejects.toThrow()
    heard.length = 0
    proxy.refuse(false)
    await vi.waitFor(() => expect(heard).toContainEqual({ kind: 'everything' }), { timeout: 15_000 })
    expect(await redis.cli('GET', '{quota}:settings')).toBe('2')
  })

  it('a settings change reaches another process’s engine within a second', async () => {
    const redis = await server()
    const table = memorySettings()
    // As two processes with one SQL table: each reads it at its own time, and neither sees the other's writes by itself.
    const shared = (bus: RedisBroadcast): AsyncSettingsStore => ({
      sync: false,
      isMarked: true,
      read: async () => table.read(),
      readSubject: async (layer, key) => table.readSubject(layer, key),
      async write(settings: unknown, options: StoreWriteOptions) {
        const reply = table.write(settings, options)
        if (reply.written) await bus.announce(reply.revision, { kind: 'settings' })
        return reply
      },
      async writeSubject(layer, key, settings, options) {
        const reply = table.writeSubject(layer, key, settings, options)
        if (reply.written) await bus.announce(table.read()?.revision ?? '', { kind: 'subject', layer, key })
        return reply
      },
      watch: (listener) => bus.watch(listener),
    })
    const [one, two] = [broadcast(redis.port), broadcast(redis.port)].map((bus) =>
      createQuota({ policy: scoreGatewayPolicy(), settingsStore: shared(bus) }),
    )
    const limit = async () => (await two!.status('u')).limits['personal-write-1h']?.limit
    expect(await limit()).toBe(60)
    await one!.settings.update({ mode: 'lenient' })
    await vi.waitFor(async () => expect(await limit()).toBe(90), { timeout: 15_000 })
    await one!.subjects.set('u', { limits: { 'personal-write-1h': 5 } })
    await vi.waitFor(async () => expect(await limit()).toBe(5), { timeout: 15_000 })
    await Promise.all([one!.close(), two!.close()])
  })
})
