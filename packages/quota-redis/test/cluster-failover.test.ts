import { slowTests, withinOwnTime } from '@scoregw/server-kit'
import { Cluster, Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { type LeasedEngine, leasedEngine, sitePolicy } from './leases/engines.ts'
import { cleanupsOf } from './support/cleanups.ts'
import { type Engine, engineOn, load, policyOf, timeToRecover, usedBy } from './support/engines.ts'
import { type RedisServer, redisTests, startCluster, startReplicaPair } from './support/redis-server.ts'

/** Decisions are made again after a primary is lost, in milliseconds. */
const RECOVERY_MS = 6_000
const LIMIT = 300
/** Of the leased site. */
const SITE_LIMIT = 6_000

/** Resolves when the replica has all that the primary has, a new write included: a link that is up may lag by a second. */
async function replicated(primary: RedisServer, replica: RedisServer): Promise<void> {
  const offset = async (server: RedisServer, of: string) =>
    new RegExp(`${of}_repl_offset:(\\d+)`).exec(String(await server.cli('INFO', 'replication')))?.[1]
  await vi.waitFor(async () => expect(await replica.cli('INFO', 'replication')).toMatch(/master_link_status:up/), {
    timeout: 10_000,
  })
  await primary.cli('SET', '{quota}marker', 'here')
  await vi.waitFor(async () => expect(await offset(replica, 'slave')).toBe(await offset(primary, 'master')), {
    timeout: 10_000,
  })
}

/** Takes of a leased site, until it refuses; how many. */
async function takesAll(quota: LeasedEngine['quota']): Promise<number> {
  let admitted = 0
  const call = async (caller: number): Promise<void> => {
    for (let i = 0; ; i++) {
      const request = { subject: `u${(caller + i) % 100}`, operation: 'take' } as const
      const decision = await quota.consume(request).catch(() => undefined)
      if (decision?.allowed === false) return
      if (decision === undefined) await new Promise((resolve) => setTimeout(resolve, 20))
      else admitted++
    }
  }
  await Promise.all(Array.from({ length: 30 }, (_, caller) => call(caller)))
  return admitted
}

/** Takes until nothing is left. */
async function exhaust({ quota }: Engine): Promise<void> {
  const take = () => quota.consume({ subject: 'u', operation: 'write' })
  const decisions = await Promise.all(Array.from({ length: LIMIT + 20 }, take))
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(LIMIT)
}

/** The answers to callers while a primary is lost by `lose`, and the counts afterwards. */
async function lossOf({ quota }: Engine, lose: () => Promise<unknown>): Promise<{ lost: number; recoveredMs: number }> {
  const before = await usedBy(quota, 'u')
  const callers = load(quota)
  await vi.waitFor(async () => expect(await usedBy(quota, 'u')).toBeGreaterThan(before + 100), {
    timeout: 15_000,
    interval: 5,
  })
  await lose()
  const results = await callers.stop()
  const recoveredMs = await timeToRecover(quota)
  const acknowledged = before + results.filter(({ ok }) => ok).length + 1
  const used = await usedBy(quota, 'u')
  // In doubt is what a server was asked and got no answer in time, and nothing is charged twice.
  const doubtful = results.filter(({ ok, isSpared }) => !ok && !isSpared).length
  expect(used).toBeLessThanOrEqual(acknowledged + doubtful)
  return { lost: Math.max(0, acknowledged - used), recoveredMs }
}

describe.runIf(redisTests && slowTests).concurrent('failover', () => {
  it('a cluster decides again within 6 s of a failover, exceeds no limit, and ignores the old primary', async ({
    onTestFinished,
  }) => {
    const { later } = cleanupsOf(onTestFinished)
    const cluster = await startCluster({ nodeTimeoutMs: 500 })
    later(() => cluster.stop())
    const open = (prefix: string, tokens?: number) =>
      engineOn(0, later, {
        client: new Cluster([...cluster.seeds]),
        prefix,
        ...(tokens === undefined ? {} : { policy: policyOf(tokens) }),
      })
    const limited = open('quota', LIMIT)
    const busy = open('quota')
    await Promise.all([limited.store.ready(), busy.store.ready()])
    const slot = await cluster.slotOf('{quota}')
    const first = await cluster.primaryOf(slot)
    const second = await cluster.replicaOf(first)
    await exhaust(limited)
    await replicated(first, second)

    // A primary that hangs and comes back, believing for a moment that it is still one.
    first.pause()
    const took = timeToRecover(busy.quota)
    await withinOwnTime(RECOVERY_MS, async () => expect(await cluster.primaryOf(slot, first)).toBe(second))
    expect(await took).toBeLessThan(RECOVERY_MS)
    const before = await usedBy(busy.quota, 'u')
    const callers = load(busy.quota)
    await vi.waitFor(async () => expect(await usedBy(busy.quota, 'u')).toBeGreaterThan(before + 100), {
      timeout: 15_000,
    })
    first.resume()
    await vi.waitFor(async () => expect(await cluster.replicaOf(second)).toBe(first), { timeout: 10_000 })
    const results = await callers.stop()
    expect(results.filter(({ ok }) => !ok)).toEqual([])
    expect(await usedBy(busy.quota, 'u')).toBe(before + results.length)
    expect(await limited.quota.consume({ subject: 'v', operation: 'write' })).toMatchObject({ allowed: false })

    // And one that is lost. What it had not sent to its replica is lost with it: a few milliseconds' worth.
    await replicated(second, first)
    const { lost, recoveredMs } = await lossOf(busy, () => second.kill())
    expect(recoveredMs).toBeLessThan(RECOVERY_MS)
    expect(lost).toBeLessThanOrEqual(10)
    expect(await limited.quota.consume({ subject: 'v', operation: 'write' })).toMatchObject({ allowed: false })
  })

  it('a failover of the server with the leased site exceeds no limit', async ({ onTestFinished }) => {
    const { later } = cleanupsOf(onTestFinished)
    const cluster = await startCluster({ nodeTimeoutMs: 500 })
    later(() => cluster.stop())
    const policy = sitePolicy(SITE_LIMIT)
    const engines = [1, 2].map(() => leasedEngine(new Cluster([...cluster.seeds]), later, { policy }))
    await Promise.all(engines.map(({ store }) => store.ready()))
    const slot = await cluster.slotOf('{quota}')
    const primary = await cluster.primaryOf(slot)
    const replica = await cluster.replicaOf(primary)
    let admitted = 0
    let stopped = false
    const work = async (caller: number): Promise<void> => {
      const { quota } = engines[caller % 2]!
      for (let i = 0; !stopped; i++) {
        const decision = await quota
          .consume({ subject: `u${(caller + i) % 100}`, operation: 'take' })
          .catch(() => undefined)
        if (decision?.allowed) admitted++
        await new Promise((resolve) => setTimeout(resolve, decision === undefined ? 20 : 5))
      }
    }
    const callers = Array.from({ length: 20 }, (_, caller) => work(caller))
    await vi.waitFor(() => expect(admitted).toBeGreaterThan(500), { timeout: 15_000 })

    // What the replica does not have is not spent: when it takes over, nothing is forgotten that was.
    replica.pause()
    await primary.cli('CLIENT', 'KILL', 'TYPE', 'replica')
    await new Promise((resolve) => setTimeout(resolve, 250))
    await primary.kill()
    const atKill = admitted
    replica.resume()
    await withinOwnTime(RECOVERY_MS, () => expect(admitted).toBeGreaterThan(atKill + 200))
    // Full speed, until the site refuses.
    const rest = await Promise.all(engines.map(({ quota }) => takesAll(quota)))
    stopped = true
    await Promise.all(callers)
    const sum = admitted + rest.reduce((total, each) => total + each, 0)
    expect(sum).toBeLessThanOrEqual(SITE_LIMIT)
    expect(sum).toBeGreaterThan(SITE_LIMIT * 0.7)
  })

  it('a failover under Sentinel decides again within 6 s and exceeds no limit', async ({ onTestFinished }) => {
    const { later } = cleanupsOf(onTestFinished)
    const pair = await startReplicaPair()
    later(() => pair.stop())
    const client = () => new Redis({ sentinels: [...pair.sentinels], name: pair.name })
    const limited = engineOn(0, later, { client: client(), policy: policyOf(LIMIT) })
    const busy = engineOn(0, later, { client: client() })
    await Promise.all([limited.store.ready(), busy.store.ready()])
    await exhaust(limited)
    await replicated(pair.primary, pair.replica)
    const { lost, recoveredMs } = await lossOf(busy, () => pair.primary.kill())
    expect(recoveredMs).toBeLessThan(RECOVERY_MS)
    expect(lost).toBeLessThanOrEqual(10)
    expect(await limited.quota.consume({ subject: 'v', operation: 'write' })).toMatchObject({ allowed: false })
  })
})
