import { afterEach, expect, it, vi } from 'vitest'
import { createQuota } from '../src/index.ts'
import { waitingQueue } from '../src/waiting.ts'

afterEach(() => void vi.useRealTimers())

it('an engine in memory answers while a test replaces the timers, and its windows follow the replaced clock', async () => {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1s' } } })
  vi.useFakeTimers()
  const allowed = async () => (await quota.consume({ subject: 'u' })).allowed
  expect([await allowed(), await allowed()]).toEqual([true, false])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await allowed()).toBe(true)
  vi.useRealTimers()
  await quota.close()
})

it('a queue whose alarm was set on replaced timers goes on with the real ones', async () => {
  const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1s' } } })
  const queue = waitingQueue(quota, { maxWaitMs: 10_000 })
  const request = { subject: 'u' }
  await queue.reserve(request)
  // Not the monotonic clock: deadlines would be measured by two clocks that differ by the age of the process.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
  const first = queue.reserve(request)
  await vi.advanceTimersByTimeAsync(1)
  vi.useRealTimers()
  const second = queue.reserve(request)
  expect([(await first).status, (await second).status]).toEqual(['reserved', 'reserved'])
  await quota.close()
})
