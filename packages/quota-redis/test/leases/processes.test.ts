import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { useCleanups } from '../support/cleanups.ts'
import { redisTests, startCluster } from '../support/redis-server.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const PROCESSES = 8
const KILLED = 3
const SITE_LIMIT = 200_000
const CALLERS = 40

const { later } = useCleanups()
const root = join(import.meta.dirname, '..', '..', '..', '..')

interface Worker {
  readonly child: ChildProcess
  /** Decisions that it said were admitted, before it used them for anything. */
  admitted: number
  /** Ended by itself: the site had refused it for three seconds. */
  done: boolean
}

/** A process that takes as fast as it can. Each admission is written before the next request, so that none is missed. */
function startWorker(ports: readonly number[]): Worker {
  const code = `
    import { writeSync } from 'node:fs'
    import { createQuota } from '@scoregw/quota'
    import { leasedRedisStore } from '@scoregw/quota-redis/leases'
    import { Cluster } from 'ioredis'
    import { sitePolicy } from './test/leases/engines.ts'
    const store = leasedRedisStore({ client: new Cluster(${JSON.stringify(ports)}.map((port) => ({ port }))), deadlineMs: 1_000 })
    const quota = createQuota({ policy: sitePolicy(${SITE_LIMIT}), store })
    await store.ready()
    let last = performance.now()
    // A pipe that the test hasn't read for a while is full: nothing else goes on until there is room.
    const said = () => {
      for (;;) {
        try {
          return writeSync(1, '+')
        } catch (error) {
          if (error.code !== 'EAGAIN') throw error
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
        }
      }
    }
    await Promise.all(Array.from({ length: ${CALLERS} }, async (_, caller) => {
      for (let i = 0; performance.now() - last < 3_000; i++) {
        const subject = 'u' + ((caller * 13 + i) % 200)
        const decision = await quota.consume({ subject, operation: 'take' }).catch(() => undefined)
        if (decision?.allowed) {
          said()
          last = performance.now()
        } else await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }))
    process.exit(0)`
  const hook = pathToFileURL(join(root, 'scripts', 'lua-as-text.mjs')).href
  const flags = ['--conditions=@scoregw/source', '--import=tsx', `--import=${hook}`, '--input-type=module']
  const child = spawn(process.execPath, [...flags, '--eval', code], { cwd: join(root, 'packages', 'quota-redis') })
  const worker: Worker = { child, admitted: 0, done: false }
  child.stdout.on('data', (data: Buffer) => {
    worker.admitted += data.length
  })
  let errors = ''
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString()
  })
  child.once('exit', (code) => {
    worker.done = true
    if (code !== 0 && code !== null) throw new Error(errors)
  })
  later(() => child.kill('SIGKILL'))
  return worker
}

describe.runIf(redisTests && deep)('processes that share a leased site', () => {
  it('processes on a leased site stay within its limit and use nearly all of it although some are killed', {
    timeout: 600_000,
  }, async () => {
    const cluster = await startCluster()
    later(() => cluster.stop())
    const ports = cluster.seeds.map(({ port }) => port)
    const workers = Array.from({ length: PROCESSES }, () => startWorker(ports))
    const sum = () => workers.reduce((total, { admitted }) => total + admitted, 0)
    for (let killed = 0; killed < KILLED; killed++) {
      const from = (SITE_LIMIT * (killed + 1)) / (KILLED + 2)
      await vi.waitFor(() => expect(sum()).toBeGreaterThan(from), { timeout: 120_000, interval: 5 })
      workers[killed]?.child.kill('SIGKILL')
    }
    await vi.waitFor(() => expect(workers.every(({ done }) => done)).toBe(true), { timeout: 300_000, interval: 50 })
    expect(sum()).toBeLessThanOrEqual(SITE_LIMIT)
    // A killed process takes with it what it held: half a second's demand, and a share of what was left.
    const share = SITE_LIMIT / (2 * PROCESSES)
    expect(sum()).toBeGreaterThanOrEqual(SITE_LIMIT - KILLED * (share + CALLERS) - CALLERS)
  })
})
