import { getEventListeners } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  createQuota,
  definePolicy,
  type MemoryStore,
  memorySettings,
  memoryStore,
  QuotaError,
  type QuotaOptions,
} from '../src/index.ts'
import type { AsyncSettingsStore, QuotaStore } from '../src/store.ts'
import { waitingQueue } from '../src/waiting.ts'
import { asAnotherProcess, asyncStore } from './support.ts'
import { FakeTime } from './waiting/fake-time.ts'

/** Work with slots, and calls with tokens, on the same requests a second. */
const POLICY = definePolicy({
  limits: {
    perSecond: { by: 'user', limit: 3, per: '1s' },
    running: { by: 'user', concurrency: 1, for: 'work' },
    service: { shared: 'service', limit: 100, per: '1s' },
    tokens: { shared: 'service', limit: 30, of: 'tokens', per: '1s' },
  },
  operations: { list: {}, call: { cost: { tokens: 10 } }, work: {} },
})

function engine(options: Pick<QuotaOptions, 'store' | 'settingsStore'> = {}) {
  return createQuota({ policy: POLICY, logger: false, ...options })
}

const list = { subject: 'ada', operation: 'list' } as const
const work = { subject: 'ada', operation: 'work' } as const

/** The status of a promise so far. */
async function statusOf(promise: Promise<{ readonly status: string }>): Promise<string> {
  let status = 'open'
  promise.then(
    (reservation) => {
      status = reservation.status
    },
    () => undefined,
  )
  await vi.advanceTimersByTimeAsync(0)
  return status
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('the waiting queue', () => {
  it('the queue reserves without a wait what fits', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    const reservation = await queue.reserve(list)
    expect(reservation).toMatchObject({ status: 'reserved', allowed: true })
    await quota.close()
  })

  it('the queue keeps a request until its window opens', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    for (let i = 0; i < 3; i++) await queue.reserve(list)
    const fourth = queue.reserve(list)
    await vi.advanceTimersByTimeAsync(999)
    expect(await statusOf(fourth)).toBe('open')
    expect(queue.size).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await statusOf(fourth)).toBe('reserved')
    expect(queue.size).toBe(0)
    await quota.close()
  })

  it('a request whose settings are read keeps its place before later ones whose settings are cached', async () => {
    const settings = memorySettings()
    let release = (): void => undefined
    const slow = new Promise<void>((resolve) => {
      release = resolve
    })
    const settingsStore: AsyncSettingsStore = {
      sync: false,
      isMarked: false,
      read: async () => settings.read(),
      write: async (document, options) => settings.write(document, options),
      async readSubject(layer, key) {
        if (key === 'ada') await slow
        return settings.readSubject(layer, key)
      },
      writeSubject: async (layer, key, document, options) => settings.writeSubject(layer, key, document, options),
      watch: (listener) => settings.watch(listener),
    }
    const quota = engine({ settingsStore })
    const queue = waitingQueue(quota)
    await queue.reserve({ subject: 'eve', operation: 'call', cost: { requests: 1, tokens: 20 } })
    // The service has 10 tokens left: enough for one of them.
    const order: string[] = []
    const reserve = (subject: string) =>
      queue.reserve({ subject, operation: 'call' }).then(({ status }) => order.push(`${subject} ${status}`))
    const both = [reserve('ada'), reserve('eve')]
    await vi.advanceTimersByTimeAsync(0)
    release()
    await vi.advanceTimersByTimeAsync(0)
    expect(order).toEqual(['ada reserved'])
    await vi.advanceTimersByTimeAsync(1_000)
    await Promise.all(both)
    expect(order).toEqual(['ada reserved', 'eve reserved'])
    await quota.close()
  })

  it('the queue runs work, commits when it returns and cancels when it throws', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    const done = await queue.run(work, ({ decision }) => decision.operation)
    expect(done).toMatchObject({ allowed: true, value: 'work' })
    await expect(queue.run(work, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await quota.holds.list('ada')).toEqual([])
    const refused = await queue.run({ ...work, maxWaitMs: 0, cost: { requests: 9 } }, () => 'never')
    expect(refused).toMatchObject({ allowed: false, status: 'refused', reason: 'too_large' })
    await quota.close()
  })

  it('the queue returns the status of a repeated id', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    await queue.reserve({ ...list, id: 'one' })
    expect(await queue.reserve({ ...list, id: 'one' })).toMatchObject({ status: 'duplicate' })
    expect(await queue.run({ ...list, id: 'one' }, () => 'never')).toEqual({ allowed: false, status: 'duplicate' })
    await quota.close()
  })

  it('requests that need no full limit pass, and requests behind a waiting one for the same limit wait', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    await queue.reserve({ ...work })
    // It waits for the slot, and keeps its place in no other limit.
    const waits = queue.reserve(work)
    expect(await queue.reserve(list)).toMatchObject({ status: 'reserved' })
    // The tokens of all are gone: the large one waits, and small ones go behind it.
    await queue.reserve({ subject: 'bob', operation: 'call', cost: { tokens: 25 } })
    const large = queue.reserve({ subject: 'cy', operation: 'call', cost: { tokens: 20 } })
    const small = queue.reserve({ subject: 'dan', operation: 'call', cost: { tokens: 1 } })
    await vi.advanceTimersByTimeAsync(10)
    expect(await Promise.all([waits, large, small].map(statusOf))).toEqual(['open', 'open', 'open'])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await Promise.all([large, small].map(statusOf))).toEqual(['reserved', 'reserved'])
    await expect(Promise.all([quota.close(), waits])).rejects.toMatchObject({ code: 'quota_closed' })
  })

  it('a request that waits for a limit of some operations holds up none that the limit doesn’t count', async () => {
    const quota = createQuota({
      logger: false,
      limits: {
        perSecond: { by: 'user', limit: 9, per: '1s' },
        writes: { by: 'user', limit: 1, per: '1s', for: 'save' },
      },
      operations: { look: {}, save: {} },
    })
    const queue = waitingQueue(quota)
    await queue.reserve({ subject: 'ada', operation: 'save' })
    const save = queue.reserve({ subject: 'ada', operation: 'save' })
    expect(await statusOf(queue.reserve({ subject: 'ada', operation: 'look' }))).toBe('reserved')
    expect(await statusOf(save)).toBe('open')
    queue.close()
    await expect(save).rejects.toMatchObject({ code: 'quota_closed' })
    await quota.close()
  })

  it('the queue serves higher priorities first, up to their head start', async () => {
    const quota = engine()
    const queue = waitingQueue(quota, { headStartMs: 100 })
    for (let i = 0; i < 3; i++) await queue.reserve(list)
    const order: string[] = []
    const call = (name: string, priority: number): void => {
      void queue.reserve({ ...list, priority }).then(() => order.push(name))
    }
    call('first', 0)
    await vi.advanceTimersByTimeAsync(150)
    call('late', 1)
    call('urgent', 2)
    call('low', -1)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(order).toEqual(['urgent', 'first', 'late', 'low'])
    await quota.close()
  })
})

describe('requests that can’t be served', () => {
  it('a request whose limit opens after its deadline is rejected immediately, unless it expects refunds', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    const held = await Promise.all([1, 2, 3].map(() => queue.reserve(list)))
    const late = await queue.reserve({ ...list, maxWaitMs: 500 })
    expect(late).toMatchObject({ status: 'refused', reason: 'too_late', retryAfterMs: 1_000 })
    expect(late.decision).toMatchObject({ allowed: false, operation: 'list' })
    await expect(late.commit()).rejects.toMatchObject({ code: 'commit_refused' })
    const hopes = queue.reserve({ ...list, maxWaitMs: 500, expectGiveBacks: true })
    // What is known to refuse is refused without a try, and says what the limits say.
    const second = await queue.reserve({ ...list, maxWaitMs: 500 })
    expect(second).toMatchObject({ reason: 'too_late', decision: { allowed: false } })
    await held[0]!.cancel()
    expect(await hopes).toMatchObject({ status: 'reserved' })
    await quota.close()
  })

  it('a request that times out reports its limits', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    const ends: unknown[] = []
    quota.on('waiting', (begin) => ends.push(begin))
    quota.on('waited', (end) => ends.push(end))
    await queue.reserve(work)
    const waits = queue.reserve({ ...work, maxWaitMs: 700 })
    await vi.advanceTimersByTimeAsync(700)
    expect(await waits).toMatchObject({ reason: 'timeout', decision: { refusedBy: { name: 'running' } } })
    expect(ends).toEqual([
      { operation: 'work', size: 1 },
      { operation: 'work', outcome: 'timeout', waitedMs: 700, size: 0 },
    ])
    await quota.close()
  })

  it('a request is refused when the queue is full', async () => {
    const quota = engine()
    const queue = waitingQueue(quota, { maxWaiting: 3, maxWaitingPerSubject: 2 })
    for (const subject of ['ada', 'bob']) await queue.reserve({ ...work, subject })
    const waiting = [work, work, { ...work, subject: 'bob' }].map((request) => queue.reserve(request))
    const refused = { status: 'refused', reason: 'queue_full', decision: undefined, retryAfterMs: 1_000 }
    expect(await queue.reserve(work)).toMatchObject(refused)
    expect(await queue.reserve({ ...work, subject: 'cy' })).toMatchObject({ status: 'reserved' })
    expect(await queue.reserve({ ...work, subject: 'cy' })).toMatchObject(refused)
    queue.close()
    for (const each of await Promise.allSettled(waiting))
      expect(each).toMatchObject({ reason: { code: 'quota_closed' } })
    await quota.close()
  })

  it('a request leaves the queue and rejects as soon as its caller aborts', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    const first = await queue.reserve(work)
    const abort = new AbortController()
    const leaves = queue.reserve({ ...work, signal: abort.signal })
    const stays = queue.reserve(work)
    abort.abort(new Error('gone'))
    await expect(leaves).rejects.toThrow('gone')
    await first.commit()
    expect(await stays).toMatchObject({ status: 'reserved' })
    await expect(queue.reserve({ ...work, signal: abort.signal })).rejects.toThrow('gone')
    expect(queue.size).toBe(0)
    await quota.close()
  })
})

describe('requests of several sizes at a bucket', () => {
  const BUCKET = definePolicy({
    limits: { pace: { by: 'user', limit: 10, per: '10s', burst: 10 } },
    operations: { call: {} },
  })
  const call = { subject: 'ada', operation: 'call' } as const

  describe.each([
    ['synchronous', () => memoryStore()],
    ['asynchronous', () => asyncStore(memoryStore())],
  ])('over a %s store', (_, store) => {
    async function empty() {
      const quota = createQuota({ policy: BUCKET, logger: false, store: store() as QuotaStore })
      const queue = waitingQueue(quota)
      await queue.reserve({ ...call, cost: 10 })
      return { quota, queue }
    }

    it.each([3_000, 30_000])('a later larger request doesn’t delay a smaller one that waits for %d ms', async (ms) => {
      const { quota, queue } = await empty()
      const small = queue.reserve({ ...call, maxWaitMs: ms })
      const large = queue.reserve({ ...call, cost: 10, maxWaitMs: 30_000 })
      await vi.advanceTimersByTimeAsync(999)
      expect(await statusOf(small)).toBe('open')
      await vi.advanceTimersByTimeAsync(1)
      expect(await statusOf(small)).toBe('reserved')
      expect(await statusOf(large)).toBe('open')
      await vi.advanceTimersByTimeAsync(10_000)
      expect(await statusOf(large)).toBe('reserved')
      await quota.close()
    })

    it('a newcomer isn’t refused because of a larger request that waits', async () => {
      const { quota, queue } = await empty()
      const small = queue.reserve({ ...call, maxWaitMs: 30_000 })
      const leave = new AbortController()
      const large = queue.reserve({ ...call, cost: 10, maxWaitMs: 30_000, signal: leave.signal })
      await vi.advanceTimersByTimeAsync(0)
      const next = queue.reserve({ ...call, cost: 2, maxWaitMs: 5_000 })
      expect(await statusOf(next)).toBe('open')
      leave.abort(new Error('gone'))
      await expect(large).rejects.toThrow('gone')
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await statusOf(small)).toBe('reserved')
      await vi.advanceTimersByTimeAsync(2_000)
      expect(await statusOf(next)).toBe('reserved')
      await quota.close()
    })
  })
})

describe('callers of the queue', () => {
  it('a request without maxWaitMs waits as long as its caller', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    const held = await queue.reserve({ ...work, ttlMs: 86_400_000 })
    const caller = new AbortController()
    const waits = queue.reserve({ ...work, signal: caller.signal })
    await vi.advanceTimersByTimeAsync(120_000)
    expect(await statusOf(waits)).toBe('open')
    caller.abort(new Error('gone'))
    await expect(waits).rejects.toThrow('gone')
    await held.cancel()
    await quota.close()
  })

  it('work doesn’t start for a caller that left in the moment of its admission, and nothing stays charged', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    const first = await queue.reserve(work)
    const caller = new AbortController()
    let started = 0
    const done = queue.run({ ...work, signal: caller.signal }, () => started++)
    await vi.advanceTimersByTimeAsync(0)
    quota.on('waited', () => queueMicrotask(() => caller.abort(new Error('gone'))))
    await first.cancel()
    await expect(done).rejects.toThrow('gone')
    expect([started, await quota.holds.list('ada')]).toEqual([0, []])
    await quota.close()
  })

  it('fifty requests listen once to their common signal', async () => {
    const quota = engine({ store: asyncStore(memoryStore()) })
    const queue = waitingQueue(quota)
    const { signal } = new AbortController()
    const requests = Array.from({ length: 50 }, (_, n) => ({ ...list, subject: `u${n}`, signal }))
    const waits = requests.map((request) => queue.reserve(request))
    const reservations = requests.map((request) => quota.reserve(request))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await Promise.all([...waits, ...reservations])
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
    await quota.close()
  })
})

describe('wake-ups of the queue', () => {
  async function full() {
    const settingsStore = memorySettings()
    const store = memoryStore()
    const quota = engine({ store, settingsStore })
    const queue = waitingQueue(quota)
    const held = await queue.reserve({ ...work, ttlMs: 60_000 })
    if (held.status !== 'reserved') throw new Error('refused')
    const waits = queue.reserve({ ...work, maxWaitMs: 600_000 })
    await vi.advanceTimersByTimeAsync(0)
    expect(await statusOf(waits)).toBe('open')
    return { quota, queue, held, waits, store, settingsStore }
  }

  it('a waiting request is retried when a hold is settled', async () => {
    const { quota, held, waits } = await full()
    await held.commit()
    expect(await statusOf(waits)).toBe('reserved')
    await quota.close()
  })

  it('a waiting request is retried when an administrator releases a hold', async () => {
    const { quota, waits } = await full()
    const [hold] = await quota.holds.list('ada')
    await quota.holds.release('ada', hold!.ref)
    await vi.advanceTimersByTimeAsync(0)
    expect(await statusOf(waits)).toBe('reserved')
    await quota.close()
  })

  it('a waiting request is retried when a hold expires', async () => {
    const freed: unknown[] = []
    const { quota, waits } = await full()
    quota.on('freed', (each) => freed.push(each))
    await vi.advanceTimersByTimeAsync(61_000)
    expect(await statusOf(waits)).toBe('reserved')
    expect(freed).toEqual([{ subject: undefined }])
    await quota.close()
  })

  it('a waiting request is retried when windows are reset', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    for (let i = 0; i < 3; i++) await queue.reserve(list)
    const waits = queue.reserve(list)
    await quota.reset('ada')
    expect(await statusOf(waits)).toBe('reserved')
    await quota.close()
  })

  it('a waiting request is retried when limits are raised', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    const call = { subject: 'ada', operation: 'call', cost: { tokens: 30 } } as const
    await queue.reserve(call)
    const waits = queue.reserve(call)
    await quota.settings.update({ shared: { service: { multiplier: 2 } } })
    expect(await statusOf(waits)).toBe('reserved')
    await quota.close()
  })

  it('a waiting request is retried within 1.5 s after another process frees a slot', async () => {
    const { quota, queue, held, waits, store } = await full()
    const other = engine({ store: asAnotherProcess(store) })
    const taken = await other.resume(held.token!)
    await vi.advanceTimersByTimeAsync(20_000)
    await taken.cancel()
    await vi.advanceTimersByTimeAsync(1_500)
    expect(await statusOf(waits)).toBe('reserved')
    queue.close()
    await quota.close()
  })
})

describe('what another process gives back', () => {
  const HOURS = definePolicy({
    limits: { perHour: { by: 'user', limit: 10, per: '1h' } },
    operations: { call: {} },
  })
  const call = { subject: 'ada', operation: 'call' } as const
  const hopes = { ...call, maxWaitMs: 1_800_000, expectGiveBacks: true } as const

  describe.each([
    ['synchronous', (memory: MemoryStore) => memory],
    ['asynchronous', (memory: MemoryStore) => asyncStore(memory)],
  ])('over a %s store', (_, ofThisProcess) => {
    /** Another process holds all of ada's tokens. */
    async function full() {
      const memory = memoryStore()
      const takes = { count: 0 }
      const store = counting(ofThisProcess(memory), takes)
      const quota = createQuota({ policy: HOURS, logger: false, store })
      const other = createQuota({ policy: HOURS, logger: false, store: asAnotherProcess(memory) })
      const held = await other.reserve({ ...call, cost: 10 })
      const queue = waitingQueue(quota)
      return { quota, queue, other, held, takes }
    }

    it('a waiting request is tried once a second, and so notices it', async () => {
      const { quota, queue, other, held, takes } = await full()
      const waits = [queue.reserve(hopes), queue.reserve(hopes)]
      await vi.advanceTimersByTimeAsync(20_000)
      expect(queue.size).toBe(2)
      // Of those who wait for a limit, the first one tries.
      expect(takes.count).toBeLessThan(25)
      await held.cancel()
      await vi.advanceTimersByTimeAsync(1_100)
      expect(await Promise.all(waits.map(statusOf))).toEqual(['reserved', 'reserved'])
      await Promise.all([quota.close(), other.close()])
    })

    it('a new request is not refused because of what was true before it came', async () => {
      const { quota, queue, other, held } = await full()
      const waits = queue.reserve({ ...hopes, cost: 2 })
      await vi.advanceTimersByTimeAsync(0)
      const hasty = { ...call, cost: 2, maxWaitMs: 100 }
      expect(await queue.reserve(hasty)).toMatchObject({ reason: 'too_late', decision: { allowed: false } })
      await held.cancel()
      const came = [queue.reserve({ ...hasty, cost: 3 }), queue.reserve({ ...hasty, cost: 6 })]
      await vi.advanceTimersByTimeAsync(0)
      // The earlier one gets its tokens first.
      expect(await Promise.all([waits, ...came].map(statusOf))).toEqual(['reserved', 'reserved', 'refused'])
      await Promise.all([quota.close(), other.close()])
    })

    it('limits of many subjects are tried 100 times a second together', async () => {
      const { quota, queue, other, takes } = await full()
      const crowd = Array.from({ length: 400 }, (_, n) => `u${n}`)
      for (const subject of crowd) await other.reserve({ ...call, subject, cost: 10 })
      const waits = crowd.map((subject) => queue.reserve({ ...hopes, subject }))
      await vi.advanceTimersByTimeAsync(0)
      takes.count = 0
      await vi.advanceTimersByTimeAsync(20_000)
      expect(takes.count).toBeGreaterThan(1_000)
      expect(takes.count).toBeLessThan(2_500)
      queue.close()
      await Promise.allSettled(waits)
      await Promise.all([quota.close(), other.close()])
    })
  })

  function counting<Store extends QuotaStore>(store: Store, takes: { count: number }): Store {
    const open = (...given: Parameters<Store['open']>) => {
      const counters = store.open(...(given as [never, never]))
      const take = counters.take.bind(counters)
      return Object.assign(counters, {
        take: (request: never) => {
          takes.count++
          return take(request)
        },
      })
    }
    return { ...store, can: store.can, clock: store.clock, sync: store.sync, open } as Store
  }
})

describe('prices in the queue', () => {
  it('a waiting request pays the price in force when it is admitted', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    await queue.reserve({ subject: 'ada', operation: 'call', cost: { tokens: 30 } })
    const call = queue.reserve({ subject: 'bob', operation: 'call' })
    await vi.advanceTimersByTimeAsync(0)
    // It costs no tokens any more, and so waits for none.
    await quota.settings.update({ prices: { call: { tokens: 0 } } })
    expect(await statusOf(call)).toBe('reserved')
    await quota.close()
  })

  it('a request’s cost is validated before it waits', async () => {
    const quota = engine()
    const queue = waitingQueue(quota)
    for (let i = 0; i < 3; i++) await queue.reserve(list)
    void queue.reserve(list).catch(() => undefined)
    await expect(queue.reserve({ ...list, cost: { requests: -1 } })).rejects.toMatchObject({ code: 'invalid_cost' })
    await expect(queue.reserve({ ...list, id: '' })).rejects.toMatchObject({ code: 'invalid_id' })
    await expect(queue.reserve({ ...list, ttlMs: 0 })).rejects.toMatchObject({ code: 'invalid_ttl' })
    await expect(queue.reserve({ subject: 'ada', operation: 'no' as never })).rejects.toMatchObject({
      code: 'unknown_operation',
    })
    await expect(queue.reserve(undefined as never)).rejects.toMatchObject({ code: 'unknown_operation' })
    for (const wrong of [{ maxWaitMs: -1 }, { maxWaitMs: 1.5 }, { priority: 11 }, { expectGiveBacks: 1 as never }])
      await expect(queue.reserve({ ...list, ...wrong })).rejects.toMatchObject({ code: 'invalid_wait' })
    await quota.close()
  })
})

describe('the queue without its store', () => {
  function breaking() {
    const memory = memoryStore()
    let isAway = false
    const gate = async (): Promise<void> => {
      if (isAway) throw new Error('away')
    }
    const store: QuotaStore = asyncStore(memory, gate)
    const away = (is: boolean): void => {
      isAway = is
    }
    return { quota: engine({ store }), away }
  }

  it('requests keep their places until the store answers', async () => {
    const { quota, away } = breaking()
    const queue = waitingQueue(quota)
    await queue.reserve(list)
    away(true)
    const order: number[] = []
    for (const nr of [1, 2]) void queue.reserve(list).then(() => order.push(nr))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(order).toEqual([])
    away(false)
    await vi.advanceTimersByTimeAsync(1_500)
    expect(order).toEqual([1, 2])
    await quota.close()
  })

  it('requests reject at their deadline with the store’s error', async () => {
    const { quota, away } = breaking()
    const queue = waitingQueue(quota)
    away(true)
    const waits = queue.reserve({ ...list, maxWaitMs: 300 }).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await waits).toMatchObject({ code: 'quota_unavailable' })
    await quota.close()
  })
})

describe('waitingQueue()', () => {
  it('waitingQueue() requires an engine and rejects invalid options', () => {
    const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1s' } } })
    expect(() => waitingQueue({} as never)).toThrow(/expected an engine/)
    expect(() => waitingQueue(quota, { maxWaiting: -1 })).toThrow(/maxWaiting: expected a whole number from 0/)
    expect(() => waitingQueue(quota, { concurrency: 2 } as never)).toThrow(/slots are `concurrency` of the policy/)
  })

  it('waitingQueue() allows one open queue per engine', async () => {
    const quota = createQuota({ limits: { api: { by: 'user', limit: 1, per: '1s' } } })
    const queue = waitingQueue(quota)
    expect(() => waitingQueue(quota)).toThrow(QuotaError)
    expect(() => waitingQueue(quota)).toThrow(/this engine has a queue/)
    queue.close()
    await expect(queue.reserve({ subject: 'u' })).rejects.toMatchObject({ code: 'quota_closed' })
    waitingQueue(quota).close()
    await quota.close()
  })

  it('close() removes all listeners and timers of the queue', () =>
    FakeTime.run(async () => {
      vi.useRealTimers()
      const time = new FakeTime(Math.random)
      try {
        const quota = engine()
        const on = quota.on.bind(quota)
        let open = 0
        quota.on = ((event: never, listener: never) => {
          const stop = on(event, listener)
          open++
          return () => {
            open--
            stop()
          }
        }) as never
        const queue = waitingQueue(quota)
        expect(open).toBeGreaterThan(0)
        for (let i = 0; i < 3; i++) await queue.reserve(list)
        const fourth = queue.reserve(list)
        fourth.catch(() => undefined)
        await turn()
        expect(queue.size).toBe(1)
        expect(time.timers).toBeGreaterThan(0)
        queue.close()
        await expect(fourth).rejects.toMatchObject({ code: 'quota_closed' })
        expect([open, time.timers]).toEqual([0, 0])
        await quota.close()
      } finally {
        time.end()
      }
    }))
})
