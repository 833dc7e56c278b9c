import { describe, expect, it } from 'vitest'
import { memoryStore, simpleQuota } from '../src/index.ts'
import { systemClock } from '../src/store.ts'
import { asAnotherProcess, testClock } from './support.ts'

const options = { limit: 1, per: '1h' } as const
const HOUR = 3_600_000

describe('one clock for an engine and its store', () => {
  it("is the engine's, where a memory store was given none", () => {
    const clock = testClock()
    const quota = simpleQuota({ ...options, clock, store: memoryStore() })
    quota.consumeSync({ subject: 'u' })
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(false)
    clock.at += HOUR
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(true)
  })

  it("is the store's, where the engine was given none", () => {
    const clock = testClock()
    const quota = simpleQuota({ ...options, store: memoryStore({ clock }) })
    expect(quota.consumeSync({ subject: 'u' }).windows[0]?.startedAt).toBe(clock.at)
  })

  it('is taken from the first engine by the next ones, and another one is refused', () => {
    const clock = testClock()
    const store = memoryStore()
    simpleQuota({ ...options, clock, store })
    const second = simpleQuota({ ...options, store })
    expect(second.consumeSync({ subject: 'u' }).windows[0]?.startedAt).toBe(clock.at)
    expect(() => simpleQuota({ ...options, clock: testClock(), store })).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringContaining('pass clock to memoryStore()'),
      }),
    )
  })

  it("is refused, where a store by the machine's clock can take no other", () => {
    const store = { ...asAnotherProcess(memoryStore()), clock: systemClock }
    expect(() => simpleQuota({ ...options, clock: testClock(), store })).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining("the machine's clock") }),
    )
    expect(simpleQuota({ ...options, store }).sync).toBe(true)
  })

  it('may be two, where both were given, as a server and a process have them', () => {
    const [own, ofStore] = [testClock(), testClock()]
    ofStore.at = own.at + HOUR
    const quota = simpleQuota({ ...options, clock: own, store: memoryStore({ clock: ofStore }) })
    expect(quota.consumeSync({ subject: 'u' }).windows[0]?.startedAt).toBe(ofStore.at)
  })
})
