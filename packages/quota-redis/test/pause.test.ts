import { readFile } from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import { cleanupsOf } from './support/cleanups.ts'
import { linesOf, runProgram } from './support/program.ts'
import { redisTests } from './support/redis-server.ts'

const CALLS = 100

/** Asks so much, stands still as soon as it is sent, and says what became of it when it goes on. */
const program = (port: number): string => `
  import { cellsIn, windowCell } from '@scoregw/quota/internal'
  import { redisStore } from '@scoregw/quota-redis'
  import { Redis } from 'ioredis'
  const client = new Redis({ port: ${port}, lazyConnect: true })
  const store = redisStore({ client, deadlineMs: 300 })
  const cells = cellsIn(['tokens'], [windowCell({ label: '1h', lengthMs: 3_600_000 })])
  const counters = store.open({ units: ['tokens'], layers: [{ name: 'personal', shared: false, cells }], sets: [[0]] })
  const take = () => counters.take({ subject: 'u', set: 0, quotas: { layers: [0], limits: [1e6] }, costs: [1, 0] })
  await store.ready()
  await take()
  const calls = Promise.allSettled(Array.from({ length: ${CALLS} }, take))
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  process.kill(process.pid, 'SIGSTOP')
  console.log((await calls).filter(({ status }) => status === 'fulfilled').length)
  console.log(await take().then(({ outcome, states }) => outcome + ' ' + states[1], String))
  await store.close()`

async function isStopped(pid: number): Promise<boolean> {
  return / T /.test(await readFile(`/proc/${pid}/stat`, 'utf8'))
}

describe.runIf(redisTests && process.platform === 'linux').concurrent('stalled processes', () => {
  it.for(process.env.QUOTA_TEST_DEEP === '1' ? [500, 1_500, 3_000] : [1_500])(
    'a process that stalled for %i ms answers what had arrived meanwhile and continues',
    { timeout: 60_000 },
    async (ms, { onTestFinished }) => {
      const { later, server } = cleanupsOf(onTestFinished)
      const redis = await server()
      const child = runProgram(program(redis.port))
      later(() => child.kill('SIGKILL'))
      await vi.waitFor(async () => expect(await isStopped(child.pid!)).toBe(true), { timeout: 30_000 })
      await new Promise((resolve) => setTimeout(resolve, ms))
      child.kill('SIGCONT')
      const lines: string[] = []
      for await (const line of linesOf(child)) lines.push(line)
      expect(lines).toEqual([String(CALLS), `admitted ${CALLS + 2}`])
    },
  )
})
