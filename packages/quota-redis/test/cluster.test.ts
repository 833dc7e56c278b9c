import { randomUUID } from 'node:crypto'
import { createQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import { runHistories } from '@scoregw/quota-histories'
import { CONFORMANCE_CASES, describeStore } from '@scoregw/quota-testkit'
import { Cluster } from 'ioredis'
import { Cluster as Cluster5 } from 'ioredis5'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { keySlot } from '../src/connection/cluster-nodes.ts'
import { redisBroadcast, redisOutcomes, redisSettings } from '../src/index.ts'
import { leasedEngine, sitePolicy, siteUsed, takes } from './leases/engines.ts'
import { clusterFactory, leasedClusterFactory, newPrefix } from './store-harness.ts'
import { useCleanups } from './support/cleanups.ts'
import { engineOn, timedWrite, usedBy } from './support/engines.ts'
import { type ClusterNode, type RedisCluster, redisTests, startCluster } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const HISTORIES = { runs: deep ? 5_000 : 10, maxSteps: 30 }

/** A deadline for calls that have to be answered, on a machine that is busy with other tests, too. */
const PATIENT_MS = 30_000

const { later } = useCleanups()

describe.runIf(redisTests)('a cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())
  const factory = clusterFactory(() => cluster)

  // On one server in every run: here subjects and site are on servers of their own.
  if (deep) {
    const registered = describeStore({ describe, it }, factory, 'Redis store')
    it('a store on a cluster passes the conformance suite', () => expect(registered).toBe(CONFORMANCE_CASES.length))
    describeStore(
      { describe, it },
      leasedClusterFactory(() => cluster),
      'Redis store with leases',
    )
  }

  it(`a cluster answers ${HISTORIES.runs} random histories as the model does`, {
    timeout: deep ? 3_600_000 : 60_000,
  }, async () => {
    await runHistories(factory, HISTORIES)
  })

  const clientOf = () => new Cluster([...cluster.seeds], { lazyConnect: true })

  function engine(prefix: string, deadlineMs = 1_000) {
    return engineOn(0, later, { client: clientOf(), prefix, deadlineMs })
  }

  /** A slot's server now, and another primary. */
  async function homeOf(prefix: string): Promise<{ slot: number; home: ClusterNode; other: ClusterNode }> {
    const slot = await cluster.slotOf(`{${prefix}}`)
    const home = await cluster.primaryOf(slot)
    return { slot, home, other: cluster.nodes.slice(0, 3).find((node) => node !== home)! }
  }

  it('the store computes the same hash slots as the servers', async () => {
    for (const key of ['', 'k', '{quota}:x', '{}x', '{a}{b}', 'x{a', '{配额}', 'a}{b}c']) {
      expect(keySlot(key), key).toBe(await cluster.slotOf(key))
    }
  })

  it('the store accepts an ioredis 5 client with a key prefix of its own', async () => {
    const theirs = new Cluster5([...cluster.seeds], { lazyConnect: true, keyPrefix: 'theirs:' })
    const { quota, store } = engineOn(0, later, { client: theirs as unknown as Cluster, prefix: newPrefix() })
    await store.ready()
    expect(await timedWrite(quota)).toMatchObject({ ok: true })
    expect(await usedBy(quota, 'u')).toBe(1)
    expect(theirs.status).toBe('wait')
  })

  it('settings changes reach every process, even while their slot migrates', async () => {
    const prefix = newPrefix()
    const open = () => {
      const client = clientOf()
      const settingsStore = redisSettings({ client, prefix })
      const quota = createQuota({ policy: scoreGatewayPolicy(), settingsStore, deadlineMs: 1_000 })
      later(() => quota.close())
      return quota
    }
    const [one, two] = [open(), open()]
    const limit = async () => (await two.status('u')).limits['personal-write-1h']?.limit
    expect(await limit()).toBe(60)
    await one.settings.update({ mode: 'lenient' })
    await vi.waitFor(async () => expect(await limit()).toBe(90), { timeout: 15_000 })
    const { slot, other } = await homeOf(prefix)
    await cluster.migrate(slot, other)
    await one.settings.update({ mode: 'normal' })
    await vi.waitFor(async () => expect(await limit()).toBe(60), { timeout: 15_000 })
    await one.subjects.set('u', { limits: { 'personal-write-1h': 5 } })
    await vi.waitFor(async () => expect(await limit()).toBe(5), { timeout: 15_000 })
  })

  it('a broadcast announces settings that are stored elsewhere, and outcomes are counted on a cluster', async () => {
    const prefix = newPrefix()
    const [teller, hearer] = [1, 2].map(() => {
      const broadcast = redisBroadcast({ client: clientOf(), prefix })
      later(() => broadcast.close())
      return broadcast
    })
    const heard: string[] = []
    hearer!.watch((change) => heard.push(change.kind === 'subject' ? change.key : change.kind))
    const key = randomUUID()
    await vi.waitFor(
      async () => {
        await teller!.announce('1', { kind: 'subject', layer: 'personal', key })
        await vi.waitFor(() => expect(heard).toContain(key), { timeout: 50, interval: 5 })
      },
      { timeout: 15_000 },
    )
    const outcomes = redisOutcomes({ client: clientOf(), prefix })
    later(() => outcomes.close())
    const counts = { calls: 3, errors: 1 }
    const minutes = [10, 39, 1_000].map((minute) => ({ minute, ...counts }))
    await outcomes.add(minutes as unknown as Parameters<typeof outcomes.add>[0])
    const { slot, other } = await homeOf(prefix)
    await cluster.migrate(slot, other)
    await outcomes.add(minutes as unknown as Parameters<typeof outcomes.add>[0])
    expect((await outcomes.read(0, 2_000)).map(({ minute }) => minute)).toEqual([10, 39, 1_000])
  })

  it('no charge is lost or doubled while its slot migrates under load', async () => {
    const prefix = newPrefix()
    const { quota, store } = engine(prefix)
    await store.ready()
    const subjects = Array.from({ length: 20 }, (_, index) => `u${index}`)
    const counts = { ok: 0, failed: 0 }
    let stopped = false
    const callers = subjects.map(async (subject) => {
      while (!stopped) {
        const { ok } = await timedWrite(quota, subject)
        if (ok) counts.ok++
        else counts.failed++
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    })
    for (let times = 0; times < 3; times++) {
      const { slot, other } = await homeOf(prefix)
      const before = counts.ok
      await cluster.migrate(slot, other, () => new Promise((resolve) => setTimeout(resolve, 2)))
      await vi.waitFor(() => expect(counts.ok).toBeGreaterThan(before + 50), { timeout: 15_000, interval: 5 })
    }
    stopped = true
    await Promise.all(callers)
    const site = (await quota.status('u0')).limits['site-writes-hour']?.used
    const own = await Promise.all(subjects.map((subject) => usedBy(quota, subject)))
    // What got no answer in time is in doubt: it was charged or not, and is given back where its answer comes late.
    const used = { site, own: own.reduce((sum, each) => sum + each, 0) }
    for (const sum of Object.values(used)) {
      expect(sum, JSON.stringify({ used, counts })).toBeGreaterThanOrEqual(counts.ok)
      expect(sum, JSON.stringify({ used, counts })).toBeLessThanOrEqual(counts.ok + counts.failed)
    }
  })

  it('a call waits within the deadline for rows that are migrating, then the failure policy decides', async () => {
    const prefix = newPrefix()
    const { quota, store } = engine(prefix)
    const { quota: hasty } = engine(prefix, 50)
    await store.ready()
    expect(await timedWrite(quota)).toMatchObject({ ok: true })
    const { slot, other } = await homeOf(prefix)
    let moved = 0
    let waiting: Promise<{ ok: boolean }> | undefined
    await cluster.migrate(slot, other, async () => {
      if (moved++ !== 1) return
      const cause = { code: 'store_error', message: expect.stringMatching(/within 50 ms/) as string }
      await expect(hasty.consume({ subject: 'u', operation: 'write' })).rejects.toMatchObject({ cause })
      waiting = timedWrite(quota)
      await new Promise((resolve) => setTimeout(resolve, 50))
    })
    expect(await waiting).toMatchObject({ ok: true })
    expect(await usedBy(quota, 'u')).toBe(2)
  })

  it('the store uses the importing server once all rows are there, before it owns the slot', async () => {
    const prefix = newPrefix()
    const { quota, store } = engineOn(0, later, { client: clientOf(), prefix })
    const settings = redisSettings({ client: clientOf(), prefix })
    later(() => settings.close())
    await store.ready()
    const { slot, home, other } = await homeOf(prefix)
    // All keys that a script names have to be there, or a server on the way asks to try again.
    await home.cli('SET', `{${prefix}}:settings`, '')
    expect(await timedWrite(quota)).toMatchObject({ ok: true })
    let asked = 0
    await cluster.migrate(slot, other, async () => {
      const left = (await home.cli('CLUSTER', 'COUNTKEYSINSLOT', String(slot))) as number
      if (left > 0) return
      for (; asked < 3; asked++) expect(await timedWrite(quota)).toMatchObject({ ok: true })
      // Forgotten scripts are sent again, and so is the command that marks the client's connection.
      await other.cli('SCRIPT', 'FLUSH')
      expect(await timedWrite(quota)).toMatchObject({ ok: true })
      expect(await settings.read()).toBeUndefined()
    })
    expect(asked).toBe(3)
    expect(await usedBy(quota, 'u')).toBe(5)
  })

  it('rows of subjects are spread over the servers when the site is leased', async () => {
    const prefix = newPrefix()
    const policy = sitePolicy(1_000_000)
    const { quota, store } = leasedEngine(clientOf(), later, { policy, prefix, deadlineMs: PATIENT_MS })
    let taken = 0
    const takeMore = async () => {
      expect(await takes(quota, 20, 50, 100)).toBe(1_000)
      taken += 1_000
    }
    await takeMore()
    // On a busy machine leases end before they are used up, and are taken again.
    while (store.leases().localDecisions <= 300) await takeMore()
    expect(await siteUsed(quota)).toBe(taken + store.leases().strandedTokens)
    for (const node of cluster.nodes.slice(0, 3)) {
      expect(((await node.cli('KEYS', `{${prefix}~*`)) as string[]).length).toBeGreaterThan(10)
    }
    // The slot of the site moves; who has a lease goes on meanwhile.
    const { slot, other } = await homeOf(prefix)
    await cluster.migrate(slot, other)
    await takeMore()
    // What a late lease gave back as the slot moved stays debited if nobody knows whether it arrived.
    expect(await siteUsed(quota)).toBe(taken + store.leases().strandedTokens)
  })

  it('a closed store on a cluster rejects calls', async () => {
    const { quota, store } = engine(newPrefix())
    await store.ready()
    await quota.close()
    await expect(store.ready()).rejects.toMatchObject({ code: 'store_error' })
  })

  it('the error for an unreachable cluster names the fault', async () => {
    const { quota, store } = engineOn(0, later, { client: new Cluster([{ port: 1 }], { lazyConnect: true }) })
    await expect(store.ready()).rejects.toMatchObject({ code: 'store_error' })
    expect(await timedWrite(quota)).toMatchObject({ ok: false })
  })
})
