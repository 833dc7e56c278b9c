import { describe, expect, it } from 'vitest'
import { createQuota, memoryStore } from '../src/index.ts'
import type { QuotaStore, SyncStore, TakeReply } from '../src/store.ts'
import { gatewayPolicy } from './support.ts'

it('consume() gives up after four attempts while settings keep changing', async () => {
  let takes = 0
  const take = (): Promise<TakeReply> => {
    takes++
    return Promise.resolve({ outcome: 'stale', now: Date.now(), states: [], settingsRevision: `r${takes}` })
  }
  const store: QuotaStore = {
    sync: false,
    open: (schema) => ({ ...asynchronous(memoryStore().open(schema)), take }),
  }
  const quota = createQuota({ policy: gatewayPolicy(), store, deadlineMs: 60_000 })
  await expect(quota.consume({ subject: 'u', operation: 'read' })).rejects.toThrow(/settings changed faster/)
  expect(takes).toBe(4)
})

/** A memory store with a fault: takes that make no hold, and growing holds, are stale. */
function staleStore(): SyncStore {
  const store = memoryStore()
  const stale = { outcome: 'stale', now: Date.now(), states: [], settingsRevision: 'another' } as const
  return {
    sync: true,
    can: store.can,
    open(schema) {
      const counters = store.open(schema)
      return {
        read: (request) => counters.read(request),
        settle: (request) => counters.settle(request),
        reset: (request) => counters.reset(request),
        take: (request) => (request.hold === undefined ? stale : counters.take(request)),
        holds: Object.assign(counters.holds!, { grow: () => stale }),
      }
    },
  }
}

describe('a synchronous store that knows other settings', () => {
  const write = { subject: 'u', operation: 'write' } as const
  const unavailable = { code: 'quota_unavailable', message: expect.stringContaining('knows other settings') }

  it('consumeSync() is unavailable when a synchronous store knows other settings', async () => {
    const quota = createQuota({ policy: gatewayPolicy(), store: staleStore() })
    expect(thrownBy(() => quota.consumeSync(write))).toMatchObject(unavailable)
    expect(thrownBy(() => quota.reserveSync(write))).toMatchObject(unavailable)
    await expect(quota.consume(write)).rejects.toMatchObject(unavailable)
    const held = quota.reserveSync({ ...write, ttlMs: 60_000 })
    if (held.status !== 'reserved') throw new Error('not reserved')
    expect(thrownBy(() => held.add(1))).toMatchObject(unavailable)
    expect(held.commit()).toMatchObject({ charged: 15 })
  })

  it('the failure policy decides when a synchronous store knows other settings', async () => {
    const quota = createQuota({ policy: gatewayPolicy(), store: staleStore(), failurePolicy: { write: 'open' } })
    expect(quota.consumeSync(write)).toMatchObject({ allowed: true, source: 'fallback' })
    expect(await quota.consume(write)).toMatchObject({ allowed: true, source: 'fallback' })
  })
})

function thrownBy(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error
  }
}

function asynchronous(counters: ReturnType<ReturnType<typeof memoryStore>['open']>) {
  return {
    read: async (...args: Parameters<typeof counters.read>) => counters.read(...args),
    settle: async (...args: Parameters<typeof counters.settle>) => counters.settle(...args),
    reset: async (...args: Parameters<typeof counters.reset>) => counters.reset(...args),
  }
}
