import { memorySettings, type OneUnit, type Quota, QuotaError } from '@scoregw/quota'
import type { AsyncSettingsStore } from '@scoregw/quota/store'
import { ownTime, withinOwnTime } from '@scoregw/server-kit'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { redisBroadcast, redisSettings } from '../src/index.ts'
import { announced } from './support/announced-table.ts'
import { cleanupsOf } from './support/cleanups.ts'
import { engineOn, policyOf } from './support/engines.ts'
import { type RedisServer, redisTests, startReplicaPair } from './support/redis-server.ts'

/** What every process does within this time of decisions being possible again, in milliseconds. */
const FOLLOWED_MS = 1_000
/** Decisions are made again after a primary is lost, in milliseconds. */
const RECOVERY_MS = 6_000
const LIMIT = 40
const HOUR = 'personal-writes-hour'
const CALLERS = 4
/**
 * Reads and script texts of both engines together while they find out, once for each way to be notified of it: by decisions, by
 * each of their connections, by messages, by looking. Deciding in vain would be hundreds.
 */
const MOST = 40

type Q = Quota<'read' | 'write', OneUnit>

/** What a decision was made under. */
interface Made {
  readonly by: Q
  readonly version: number
  readonly limit: unknown
}

/** `undefined` where the store did not answer. */
async function decide(quota: Q): Promise<Made | undefined> {
  try {
    const { settingsVersion: version, limits } = await quota.consume({ subject: 'busy', operation: 'write' })
    return { by: quota, version, limit: limits[HOUR]!.limit }
  } catch (error) {
    if (error instanceof QuotaError && error.code === 'quota_unavailable') return undefined
    throw error
  }
}

/** Callers of every engine, each one decision after the other; their answers, and how often they got none. */
function load(quotas: readonly Q[]): { readonly made: Made[]; silent: number; stop(): Promise<void> } {
  let stopped = false
  const answers = { made: [] as Made[], silent: 0 }
  const call = async (quota: Q): Promise<void> => {
    while (!stopped) {
      const made = await decide(quota)
      if (made === undefined) answers.silent++
      else answers.made.push(made)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const all = Promise.all(quotas.flatMap((quota) => Array.from({ length: CALLERS }, () => call(quota))))
  return Object.assign(answers, {
    async stop() {
      stopped = true
      await all
    },
  })
}

/** How often a server was sent a script's text, since it was started: announcements, writes, and what it did not know. */
async function textsSent(redis: RedisServer): Promise<number> {
  const stats = String(await redis.cli('INFO', 'commandstats'))
  return Number(/cmdstat_eval:calls=(\d+)/.exec(stats)?.[1] ?? 0)
}

/** Counts how often engines read the settings of all subjects, from now on. */
function readsOf(stores: readonly AsyncSettingsStore[]): () => number {
  const looks = stores.map((store) => vi.spyOn(store, 'read'))
  return () => looks.reduce((sum, { mock }) => sum + mock.calls.length, 0)
}

/** All processes are up to date: decisions are answered, and nothing is read, announced or sent again for them. */
async function expectQuiet(callers: ReturnType<typeof load>, redis: RedisServer, reads: () => number): Promise<void> {
  const before = { silent: callers.silent, reads: reads(), texts: await textsSent(redis) }
  const madeBefore = callers.made.length
  await vi.waitFor(() => expect(callers.made.length).toBeGreaterThan(madeBefore + 100), { timeout: 15_000 })
  expect({ silent: callers.silent, reads: reads(), texts: await textsSent(redis) }).toEqual(before)
}

/** Takes of a fresh subject by every engine at once, more than fit; how many were admitted. */
async function admittedOf(quotas: readonly Q[], subject: string): Promise<number> {
  const calls = quotas.flatMap((quota) =>
    Array.from({ length: 3 * LIMIT }, () => quota.consume({ subject, operation: 'write' })),
  )
  return (await Promise.all(calls)).filter(({ allowed }) => allowed).length
}

const personal = (limit: number) => ({ limits: { [HOUR]: limit } })

describe.runIf(redisTests).concurrent('lost settings', () => {
  it('settings lost with an emptied server count as not stored within a second, and later writes apply', async ({
    onTestFinished,
  }) => {
    const { later, server } = cleanupsOf(onTestFinished)
    const redis = await server()
    const stores = [1, 2].map(() => {
      const settingsStore = redisSettings({ client: new Redis({ port: redis.port, lazyConnect: true }) })
      later(() => settingsStore.close())
      return settingsStore
    })
    const quotas = stores.map((settingsStore) => engineOn(redis.port, later, { settingsStore }).quota)
    const reads = readsOf(stores)
    const [one, two] = quotas as [Q, Q]
    await one.settings.update(personal(LIMIT * 2))
    await one.settings.update(personal(LIMIT))
    expect(await admittedOf(quotas, 'before')).toBe(LIMIT)
    const callers = load(quotas)
    later(() => callers.stop())
    await vi.waitFor(() => expect(callers.made.length).toBeGreaterThan(100), { timeout: 15_000 })

    await redis.kill()
    await vi.waitFor(() => expect(callers.silent).toBeGreaterThan(2 * CALLERS), { timeout: 15_000 })
    const madeBefore = callers.made.length
    const readsBefore = reads()
    await redis.restart()
    const own = policyOf().limits.find(({ name }) => name === HOUR)!.limit
    await withinOwnTime(FOLLOWED_MS, () => {
      const since = callers.made.slice(madeBefore)
      for (const quota of quotas) {
        expect(since.some(({ by }) => by === quota)).toBe(true)
        expect(quota.settings.current().settings).toMatchObject({ version: 0, revision: '' })
      }
    })
    // The counters never answered under what was lost.
    const since = callers.made.slice(madeBefore)
    expect(new Set(since.map(({ version, limit }) => `${version} ${limit}`))).toEqual(new Set([`0 ${own}`]))

    // Compare-and-set follows the document there now.
    const { settings } = await two.settings.update(personal(LIMIT), { ifRevision: '' })
    expect(settings.version).toBe(1)
    expect(await admittedOf(quotas, 'after')).toBe(LIMIT)
    for (const quota of quotas) expect(quota.settings.current().settings.revision).toBe(settings.revision)

    expect(reads() - readsBefore).toBeLessThanOrEqual(MOST)
    expect(await textsSent(redis)).toBeLessThanOrEqual(MOST)
    await vi.waitFor(() => expectQuiet(callers, redis, reads), { timeout: 15_000 })
    await callers.stop()
  })

  it('an announcement lost with its primary is repeated', async ({ onTestFinished }) => {
    const { later } = cleanupsOf(onTestFinished)
    const pair = await startReplicaPair()
    later(() => pair.stop())
    const { primary, replica } = pair
    const client = (): Redis => new Redis({ sentinels: [...pair.sentinels], name: pair.name, lazyConnect: true })
    const table = memorySettings()
    // As processes with one SQL table.
    const stores = [1, 2].map(() => {
      const settingsStore = announced(table, redisBroadcast({ client: client() }))
      later(() => settingsStore.close?.())
      return settingsStore
    })
    const quotas = stores.map((settingsStore) => engineOn(0, later, { client: client(), settingsStore }).quota)
    const reads = readsOf(stores)
    const [one] = quotas as [Q, Q]
    const known = (await one.settings.update(personal(LIMIT * 2))).settings.revision
    const announcedOn = (server: RedisServer) => server.cli('GET', '{quota}:settings')
    await vi.waitFor(async () => expect(await announcedOn(replica)).toBe(known), { timeout: 15_000 })
    const callers = load(quotas)
    later(() => callers.stop())
    await vi.waitFor(() => expect(callers.made.length).toBeGreaterThan(100), { timeout: 15_000 })

    // The primary is all that hears the announcement. What was sent to a paused replica would wait there to be read.
    replica.pause()
    await primary.cli('CLIENT', 'KILL', 'TYPE', 'replica')
    const { revision } = (await one.settings.update(personal(LIMIT))).settings
    expect(await announcedOn(primary)).toBe(revision)
    await primary.kill()
    replica.resume()
    expect(await announcedOn(replica)).toBe(known)
    await replica.cli('CONFIG', 'RESETSTAT')
    const madeBefore = callers.made.length
    const readsBefore = reads()

    // Each process finds the new primary at its own time.
    const isDeciding = (quota: Q): boolean => callers.made.slice(madeBefore).some(({ by }) => by === quota)
    await withinOwnTime(RECOVERY_MS, () => expect(quotas.every(isDeciding)).toBe(true))
    const decidingAt = ownTime()
    expect(await announcedOn(replica)).toBe(revision)
    expect(await admittedOf(quotas, 'after')).toBe(LIMIT)
    expect(ownTime() - decidingAt).toBeLessThan(FOLLOWED_MS)
    // Not one decision by what the new primary had.
    expect(new Set(callers.made.slice(madeBefore).map(({ limit }) => limit))).toEqual(new Set([LIMIT]))

    expect(reads() - readsBefore).toBeLessThanOrEqual(MOST)
    expect(await textsSent(replica)).toBeLessThanOrEqual(MOST)
    await vi.waitFor(() => expectQuiet(callers, replica, reads), { timeout: 15_000 })
    await callers.stop()
  })
})
