import { createQuota } from '@scoregw/quota'
import { type Fault, type FaultQuota, faultPolicy, runFaultHistories } from '@scoregw/quota-histories'
import { Cluster, Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { redisStore } from '../src/index.ts'
import { useCleanups } from './support/cleanups.ts'
import { type RedisCluster, type RedisServer, redisTests, startCluster } from './support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
/** Of each kind of fault: in the deep profile more than 120,000 calls. */
const HISTORIES = deep ? { runs: 40, takes: 1_000 } : { runs: 2, takes: 300 }
const TIMEOUT_MS = deep ? 3_600_000 : 120_000

const { later, proxy, server } = useCleanups()

/** An engine that is closed after the test. Its deadline is short, so that callers have no answer while a server is away. */
async function engineOf(client: Redis | Cluster, deadlineMs: number): Promise<FaultQuota> {
  client.on('error', () => undefined)
  const store = redisStore({ client, deadlineMs })
  const quota = createQuota({ policy: faultPolicy(HISTORIES.takes / 2), store })
  later(async () => {
    await quota.close()
    client.disconnect()
  })
  await store.ready()
  return quota
}

const killed =
  (redis: RedisServer): Fault =>
  async (unanswered) => {
    await redis.kill()
    await unanswered
    await redis.restart()
  }

const paused =
  (redis: RedisServer): Fault =>
  async (unanswered) => {
    redis.pause()
    await unanswered
    redis.resume()
  }

/** Every replica takes over from its primary, with all that this has. */
async function handOver({ nodes }: RedisCluster): Promise<void> {
  const roleOf = async (node: RedisServer): Promise<string> => String(await node.cli('INFO', 'replication'))
  const roles = await Promise.all(nodes.map(roleOf))
  for (const [at, node] of nodes.entries()) {
    if (roles[at]?.includes('role:master')) continue
    const takesOver = async (): Promise<void> => {
      if ((await roleOf(node)).includes('role:master')) return
      await node.cli('CLUSTER', 'FAILOVER')
      throw new Error('not yet')
    }
    await vi.waitFor(takesOver, { timeout: 30_000, interval: 200 })
  }
}

describe.runIf(redisTests)('concurrent histories while Redis fails', () => {
  async function play(quota: FaultQuota, fault: Fault): Promise<number> {
    const { calls, refused, unanswered } = await runFaultHistories(quota, { ...HISTORIES, fault })
    expect(refused).toBeGreaterThan(calls / 10)
    if (deep) console.log(`${calls} calls, ${unanswered} attempts without an answer, no violation`)
    return unanswered
  }

  it.each([
    ['is killed and comes back', killed, { aof: true }],
    ['stands still for a while', paused, {}],
  ])('every answer is correct while a server %s', { timeout: TIMEOUT_MS }, async (_, faultOf, options) => {
    const redis = await server(options)
    const quota = await engineOf(new Redis({ port: redis.port }), 250)
    expect(await play(quota, faultOf(redis))).toBeGreaterThanOrEqual(HISTORIES.runs)
  })

  it('every answer is correct when replies are lost', { timeout: TIMEOUT_MS }, async () => {
    const lossy = await proxy((await server()).port)
    await play(await engineOf(new Redis({ port: lossy.port }), 1_000), async () => {
      for (let cuts = 0; cuts < 3; cuts++) await lossy.cutAfterNextRequest()
    })
  })

  it('every answer is correct when a replica takes over', { timeout: TIMEOUT_MS }, async () => {
    const cluster = await startCluster()
    later(() => cluster.stop())
    await play(await engineOf(new Cluster([...cluster.seeds]), 1_000), () => handOver(cluster))
  })

  it('the checker reports a server that forgets acknowledged writes', { timeout: TIMEOUT_MS }, async () => {
    const redis = await server()
    const quota = await engineOf(new Redis({ port: redis.port }), 250)
    await expect(play(quota, killed(redis))).rejects.toThrow(/a take was admitted/)
  })
})
