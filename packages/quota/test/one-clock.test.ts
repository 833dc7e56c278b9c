import { describe, expect, it } from 'vitest'
import { createQuota, memoryStore } from '../src/index.ts'
import { systemClock } from '../src/store.ts'
import { asAnotherProcess, testClock } from './support.ts'

const options = { limits: { api: { by: 'user', limit: 1, per: '1h' } } } as const
const HOUR = 3_600_000

describe('the clocks of an engine and its store', () => {
  it('a memory store without a clock uses the engine’s', () => {
    const clock = testClock()
    const quota = createQuota({ ...options, clock, store: memoryStore() })
    quota.consumeSync({ subject: 'u' })
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(false)
    clock.at += HOUR
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(true)
  })

  it('an engine without a clock uses the store’s', () => {
    const clock = testClock()
    const quota = createQuota({ ...options, store: memoryStore({ clock }) })
    expect(quota.consumeSync({ subject: 'u' }).limits.api?.startedAt).toBe(clock.at)
  })

  it('the first engine’s clock applies to later engines, and a different one is rejected', () => {
    const clock = testClock()
    const store = memoryStore()
    createQuota({ ...options, clock, store })
    const second = createQuota({ ...options, store })
    expect(second.consumeSync({ subject: 'u' }).limits.api?.startedAt).toBe(clock.at)
    expect(() => createQuota({ ...options, clock: testClock(), store })).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringContaining('pass clock to memoryStore()'),
      }),
    )
  })

  it('an engine’s clock is rejected if the store uses the machine’s clock', () => {
    const store = { ...asAnotherProcess(memoryStore()), clock: systemClock }
    expect(() => createQuota({ ...options, clock: testClock(), store })).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining("the machine's clock") }),
    )
    expect(createQuota({ ...options, store }).sync).toBe(true)
  })

  it('an engine and its store may have different clocks if both were given', () => {
    const [own, ofStore] = [testClock(), testClock()]
    ofStore.at = own.at + HOUR
    const quota = createQuota({ ...options, clock: own, store: memoryStore({ clock: ofStore }) })
    expect(quota.consumeSync({ subject: 'u' }).limits.api?.startedAt).toBe(ofStore.at)
  })
})
