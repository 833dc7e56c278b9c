import { expect, it } from 'vitest'
import { createQuota, defaultPolicy, memoryStore, type QuotaStore } from '../src/index.ts'
import type { TakeReply } from '../src/store.ts'

it('gives a take up whose settings are never the newest', async () => {
  let takes = 0
  const take = (): Promise<TakeReply> => {
    takes++
    return Promise.resolve({ outcome: 'stale', now: Date.now(), states: [], settingsRevision: `r${takes}` })
  }
  const store: QuotaStore = {
    sync: false,
    open: (schema) => ({ ...asynchronous(memoryStore().open(schema)), take }),
  }
  const quota = createQuota({ policy: defaultPolicy(), store, deadlineMs: 60_000 })
  await expect(quota.consume({ subject: 'u', operation: 'read' })).rejects.toThrow(/settings changed faster/)
  expect(takes).toBe(4)
})

function asynchronous(counters: ReturnType<ReturnType<typeof memoryStore>['open']>) {
  return {
    read: async (...args: Parameters<typeof counters.read>) => counters.read(...args),
    settle: async (...args: Parameters<typeof counters.settle>) => counters.settle(...args),
    reset: async (...args: Parameters<typeof counters.reset>) => counters.reset(...args),
  }
}
