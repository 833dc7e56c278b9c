import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describeHttpFuzz } from '@scoregw/quota-histories'
import { describeHttp, HTTP_CASES, type HttpHarness } from '@scoregw/quota-testkit/http'
import { startRedis } from '@scoregw/redis-server'
import { type Runtime, runtimeBinary } from '@scoregw/server-kit'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { bundled, type RunningRuntime, startRuntime } from './runtimes/start.ts'

/** They are fetched from npm the first time, which a plain `npm test` shall not do. */
const isOn = process.env.RUNTIME_TESTS === 'on'

const requests = process.env.QUOTA_TEST_DEEP === undefined ? 100 : 10_000

const RUNTIMES: readonly (readonly [Runtime, HttpHarness['capabilities']])[] = [
  ['bun', ['address', 'hang-ups', 'waiting', 'broken-streams']],
  ['deno', ['address', 'hang-ups', 'waiting', 'broken-streams']],
  // There a promise can only settle in the request that made it, so that no request can wait for another.
  ['workerd', ['broken-streams']],
]

describe.runIf(isOn).each(RUNTIMES)('quotaFetch on %s', (runtime, capabilities) => {
  let running: RunningRuntime
  beforeAll(async () => {
    running = await startRuntime(runtime)
  }, 120_000)
  afterAll(() => running.stop())

  const harness: HttpHarness = {
    capabilities,
    async serve(scenario) {
      await fetch(`${running.url}/-/scenario`, { method: 'POST', body: JSON.stringify(scenario) })
      return { url: running.url, stop: () => undefined }
    },
  }
  const count = describeHttp({ describe, it }, harness, 'the cases')
  describeHttpFuzz({ describe, it }, harness, 'made-up requests', requests)
  test('the runtime passes every case of the HTTP suite', () => expect(count).toBe(HTTP_CASES.length))

  test('the runtime reports no unhandled rejection', () => expect(running.complaints()).not.toMatch(/unhandled/i))
})

test.runIf(isOn)(
  'an upgrade to a WebSocket on Bun is charged, and not an error',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quota-runtime-'))
    try {
      const file = await bundled('bun-upgrade', folder)
      const { stdout, stderr } = await promisify(execFile)(await runtimeBinary('bun'), ['run', file], { cwd: folder })
      expect([JSON.parse(stdout), stderr]).toEqual([['hello!', 429, []], ''])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
  60_000,
)

describe.runIf(isOn && process.env.REDIS_TESTS !== 'off')('other runtimes on one Redis', () => {
  test.each(['bun', 'deno'] as const)(
    '%s shares counters with other runtimes',
    async (runtime) => {
      const folder = await mkdtemp(join(tmpdir(), 'quota-runtime-'))
      const redis = await startRedis()
      try {
        const file = await bundled('redis-check', folder)
        const run = runtime === 'bun' ? ['run'] : ['run', '--allow-all', '--no-config']
        const args = [...run, file, String(redis.port), runtime]
        const { stdout } = await promisify(execFile)(await runtimeBinary(runtime), args, { cwd: folder })
        expect(JSON.parse(stdout)).toEqual([[200, 500, 200, 429], 10])
      } finally {
        await redis.stop()
        await rm(folder, { recursive: true, force: true })
      }
    },
    60_000,
  )
})
