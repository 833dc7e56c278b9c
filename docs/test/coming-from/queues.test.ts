import { createQuota } from '@scoregw/quota'
import { waitingQueue } from '@scoregw/quota/waiting'
import { redisStore } from '@scoregw/quota-redis'
import { expect } from 'vitest'
import { rowsOf } from './rows.ts'

/** Five calls at a time, and a hundred a minute. */
function calls({ limit = 100, concurrency = 5 } = {}) {
  return createQuota({
    limits: { perMinute: { by: 'api', limit, per: '1m' }, running: { by: 'api', concurrency } },
    logger: false,
  })
}

const REQUEST = { subject: 'example.com' } as const

/** Work that ends when the test says so. */
function work() {
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { run: () => ended, end: () => end() }
}

rowsOf('bottleneck, p-queue and p-throttle', {
  async 'schedule(fn), add(fn), throttled()'() {
    const queue = waitingQueue(calls())
    expect(await queue.run(REQUEST, () => 'page')).toMatchObject({ allowed: true, value: 'page' })
    queue.close()
  },
  async 'maxConcurrent, concurrency'() {
    const queue = waitingQueue(calls({ concurrency: 1 }))
    const first = work()
    const order: string[] = []
    const both = [
      queue.run(REQUEST, async () => {
        await first.run()
        order.push('first')
      }),
      queue.run(REQUEST, () => order.push('second')),
    ]
    await expect.poll(() => queue.size).toBe(1)
    first.end()
    await Promise.all(both)
    expect(order).toEqual(['first', 'second'])
    queue.close()
  },
  async 'reservoir, intervalCap and interval, limit and interval'() {
    const quota = calls({ limit: 2 })
    const queue = waitingQueue(quota, { maxWaitMs: 0 })
    const runs = await Promise.all([1, 2, 3].map((n) => queue.run(REQUEST, () => n)))
    expect(runs.map(({ allowed }) => allowed)).toEqual([true, true, false])
    queue.close()
  },
  async 'minTime, strict: true'() {
    const quota = createQuota({ limits: { even: { by: 'api', limit: 60, per: '1m', burst: 1 } } })
    const [first, second] = [await quota.consume(REQUEST), await quota.consume(REQUEST)]
    expect([first.allowed, second.allowed]).toEqual([true, false])
    expect(second.allowed || second.retryAfterSeconds).toBe(1)
  },
  async weight() {
    const quota = calls({ limit: 5 })
    const queue = waitingQueue(quota)
    await queue.run({ ...REQUEST, cost: 4 }, () => undefined)
    expect(quota.statusSync('example.com').limits.perMinute?.used).toBe(4)
    queue.close()
  },
  async 'priority of bottleneck, 0 first and 9 last'() {
    expect(await ordered([-10, 10])).toEqual([10, -10])
  },
  async 'priority of p-queue, higher first'() {
    expect(await ordered([0, 5])).toEqual([5, 0])
  },
  async 'highWater, strategy'() {
    const queue = waitingQueue(calls({ concurrency: 1 }), { maxWaiting: 1 })
    const first = work()
    const running = queue.run(REQUEST, first.run)
    const waiting = queue.run(REQUEST, () => undefined)
    await expect.poll(() => queue.size).toBe(1)
    await expect(queue.run(REQUEST, () => undefined)).resolves.toMatchObject({ allowed: false, reason: 'queue_full' })
    first.end()
    await Promise.all([running, waiting])
    queue.close()
  },
  async 'timeout, expiration'() {
    const queue = waitingQueue(calls({ limit: 1 }))
    await queue.run(REQUEST, () => undefined)
    expect(await queue.run({ ...REQUEST, maxWaitMs: 5 }, () => undefined)).toMatchObject({ allowed: false })
    await expect(queue.run({ ...REQUEST, signal: AbortSignal.abort() }, () => undefined)).rejects.toThrow()
    queue.close()
  },
  async Group() {
    const queue = waitingQueue(calls({ limit: 1 }), { maxWaitMs: 0 })
    const runs = await Promise.all(['a', 'b', 'a'].map((subject) => queue.run({ subject }, () => subject)))
    expect(runs.map(({ allowed }) => allowed)).toEqual([true, true, false])
    queue.close()
  },
  "datastore: 'redis'"() {
    expect(redisStore).toBeTypeOf('function')
  },
  async 'queue.size, pending'() {
    const queue = waitingQueue(calls({ concurrency: 1 }))
    const first = work()
    const both = [queue.run(REQUEST, first.run), queue.run(REQUEST, () => undefined)]
    await expect.poll(() => queue.size).toBe(1)
    first.end()
    await Promise.all(both)
    expect(queue.size).toBe(0)
    queue.close()
  },
  async 'stop(), clear()'() {
    const queue = waitingQueue(calls({ concurrency: 1 }))
    const first = work()
    const running = queue.run(REQUEST, first.run)
    const waiting = queue.run(REQUEST, () => undefined)
    await expect.poll(() => queue.size).toBe(1)
    const refused = expect(waiting).rejects.toThrow(expect.objectContaining({ code: 'quota_closed' }) as Error)
    queue.close()
    await refused
    first.end()
    expect(await running).toMatchObject({ allowed: true })
  },
})

/** The priorities of two requests that wait for the same slot, in the order in which they ran. */
async function ordered(priorities: readonly number[]): Promise<number[]> {
  const queue = waitingQueue(calls({ concurrency: 1 }))
  const first = work()
  const order: number[] = []
  const running = queue.run(REQUEST, first.run)
  const waiting = priorities.map((priority) => queue.run({ ...REQUEST, priority }, () => order.push(priority)))
  await expect.poll(() => queue.size).toBe(priorities.length)
  first.end()
  await Promise.all([running, ...waiting])
  queue.close()
  return order
}
