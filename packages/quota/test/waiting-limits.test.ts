import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createQuota } from '../src/index.ts'
import { waitingQueue } from '../src/waiting.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('a queue admits by the numbers that come with a request', async () => {
  const quota = createQuota({ limits: { perMinute: { by: 'user', limit: 1, per: '1m' } }, logger: false })
  const queue = waitingQueue(quota)
  const reserve = (perMinute: number | null) => queue.reserve({ subject: 'ann', limits: { perMinute } })
  expect([(await reserve(null)).status, (await reserve(2)).status]).toEqual(['reserved', 'reserved'])
  const waiting = reserve(3).then(({ status }) => status)
  expect(await waiting).toBe('reserved')
  const late = reserve(3)
  await vi.advanceTimersByTimeAsync(59_000)
  expect(queue.size).toBe(1)
  await vi.advanceTimersByTimeAsync(1_000)
  expect((await late).status).toBe('reserved')
  await quota.close()
})

it('a request whose own number refuses it for good doesn’t wait', async () => {
  const quota = createQuota({ limits: { perMinute: { by: 'user', limit: 9, per: '1m' } }, logger: false })
  const queue = waitingQueue(quota)
  const refused = await queue.run({ subject: 'ann', limits: { perMinute: 0 } }, () => 'worked')
  expect(refused).toMatchObject({ allowed: false, reason: 'too_large', decision: { refusedBy: { limit: 0 } } })
  expect(await queue.run({ subject: 'ann' }, () => 'worked')).toMatchObject({ allowed: true, value: 'worked' })
  await quota.close()
})
