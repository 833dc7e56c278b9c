import { describe, expect, it } from 'vitest'
import { createQuota, memorySettings, memoryStore } from '../src/index.ts'
import type { MemorySettings } from '../src/internal.ts'
import type { AsyncSettingsStore, AsyncStore } from '../src/store.ts'
import { gatewayPolicy, testClock } from './support.ts'

const policy = gatewayPolicy()
const write = { subject: 'u', operation: 'write' } as const

/** Settings whose reads see the documents stored when they begin, and end as the test lets them. */
function heldSettings(): { inner: MemorySettings; store: AsyncSettingsStore; reads: (() => void)[] } {
  const inner = memorySettings()
  const reads: (() => void)[] = []
  const store: AsyncSettingsStore = {
    sync: false,
    isMarked: true,
    read() {
      const seen = inner.read()
      return new Promise((resolve) => reads.push(() => resolve(seen)))
    },
    write: async (document, options) => inner.write(document, options),
    readSubject: async (layer, key) => inner.readSubject(layer, key),
    writeSubject: async (layer, key, document, options) => inner.writeSubject(layer, key, document, options),
    watch: (listener) => inner.watch(listener),
  }
  return { inner, store, reads }
}

async function settled(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise(setImmediate)
}

describe('changed settings', () => {
  it('several changes during a read cause one further read', async () => {
    const { inner, store, reads } = heldSettings()
    const quota = createQuota({ policy, settingsStore: store })
    const ready = quota.ready()
    inner.write({ mode: 'conservative' }, {})
    inner.write({ mode: 'lenient' }, {})
    await settled()
    expect(reads).toHaveLength(1)
    reads[0]!()
    await ready
    await settled()
    expect(reads).toHaveLength(2)
    inner.write({ mode: 'normal' }, {})
    reads[1]!()
    await settled()
    expect(quota.settings.current().settings.mode).toBe('lenient')
    reads[2]!()
    await settled()
    expect(quota.settings.current().settings).toMatchObject({ mode: 'normal', version: 3 })
    expect(reads).toHaveLength(3)
  })
})

it('a process’s own change of a subject applies to its next decision, before the store reports it', async () => {
  const { inner, store } = heldSettings()
  const silent = { ...store, read: async () => inner.read(), watch: () => () => undefined }
  const quota = createQuota({ policy, settingsStore: silent })
  expect((await quota.consume({ ...write, cost: 1 })).allowed).toBe(true)
  await quota.subjects.update('u', { blocked: true })
  expect((await quota.consume({ ...write, cost: 1 })).allowed).toBe(false)
})

it('after a report of everything, a subject’s settings are read again, though the document is as it was', async () => {
  const { inner, store } = heldSettings()
  let report: Parameters<AsyncSettingsStore['watch']>[0] = () => undefined
  const watched: AsyncSettingsStore = {
    ...store,
    read: async () => inner.read(),
    watch(listener) {
      report = listener
      return () => undefined
    },
  }
  const quota = createQuota({ policy, settingsStore: watched })
  expect((await quota.consume({ ...write, cost: 1 })).allowed).toBe(true)
  inner.writeSubject('personal', 'u', { blocked: true }, {})
  expect((await quota.consume({ ...write, cost: 1 })).allowed).toBe(true)
  report({ kind: 'everything' })
  expect((await quota.consume({ ...write, cost: 1 })).allowed).toBe(false)
})

it('a free operation is not admitted before the settings were ever read', async () => {
  const { store } = heldSettings()
  const away = { ...store, read: () => Promise.reject(new Error('away')) }
  const quota = createQuota({ policy, settingsStore: away, logger: false })
  const call = quota.consume({ subject: 'u', operation: 'free' })
  await expect(call).rejects.toMatchObject({ code: 'quota_unavailable' })
})

describe('limits and their revision', () => {
  it('limits and their revision always come from one settings document', async () => {
    const clock = testClock()
    const inner = memoryStore({ clock })
    // More turns of the queue of microtasks than lie between the subject's settings and the counters.
    for (let turns = 0; turns < 60; turns++) {
      const { inner: documents, store: settingsStore, reads } = heldSettings()
      const asked: { revision: string | undefined; limit: number }[] = []
      const store: AsyncStore = {
        sync: false,
        open(schema) {
          const counters = inner.open(schema)
          return {
            take: async (request) => {
              asked.push({
                revision: request.settingsRevision,
                limit: request.quotas.limits[schema.sets[request.set]![0]!]!,
              })
              return counters.take(request)
            },
            read: async (request) => counters.read(request),
            settle: async (request) => counters.settle(request),
            reset: async (request) => counters.reset(request),
          }
        },
      }
      let answer = (): void => undefined
      settingsStore.readSubject = () => new Promise((resolve) => (answer = () => resolve(undefined)))
      const quota = createQuota({ policy, clock, store, settingsStore })
      const ready = quota.ready()
      reads[0]!()
      await ready
      const consuming = quota.consume({ ...write, subject: `u-${turns}` })
      await settled()
      documents.write({ mode: 'conservative' }, {})
      await settled()
      answer()
      for (let i = 0; i < turns; i++) await Promise.resolve()
      reads[1]!()
      await consuming
      const isNew = asked[0]!.revision === documents.read()!.revision
      expect({ turns, limit: asked[0]!.limit }).toEqual({ turns, limit: isNew ? 45 : 60 })
    }
  })
})

describe('settings that a transaction has read', () => {
  it('settings read in a transaction stay in force when an older read ends', async () => {
    const { inner: documents, store: settingsStore, reads } = heldSettings()
    settingsStore.inTransaction = () => ({
      read: async () => documents.read(),
      readSubject: async () => ({ stored: undefined, isLatest: true }),
    })
    const quota = createQuota({ policy, store: markedStore(documents), settingsStore })
    const ready = quota.ready()
    reads[0]!()
    await ready
    documents.write({ mode: 'conservative' }, {})
    documents.write({ mode: 'lenient' }, {})
    await quota.inTransaction('a transaction').consume(write)
    expect(quota.settings.current().settings.mode).toBe('lenient')
    reads[1]!()
    await settled()
    expect(quota.settings.current().settings.mode).toBe('lenient')
  })
})

/** Counters that know the revision of the stored settings, in memory and in transactions. */
function markedStore(documents: MemorySettings): AsyncStore {
  const inner = memoryStore()
  const open: AsyncStore['open'] = (schema) => {
    const counters = inner.open(schema)
    return {
      async take(request) {
        const revision = documents.read()?.revision ?? ''
        if (request.settingsRevision === revision) return counters.take(request)
        return { outcome: 'stale', now: Date.now(), states: [], settingsRevision: revision }
      },
      read: async (request) => counters.read(request),
      settle: async (request) => counters.settle(request),
      reset: async (request) => counters.reset(request),
    }
  }
  return { sync: false, open, inTransaction: open }
}

describe('documents without a revision', () => {
  it('a document without a revision rejects requests and doesn’t fall back to the policy’s settings', async () => {
    const { store } = heldSettings()
    const read = async (): Promise<never> => ({ document: { mode: 'conservative' }, version: 1 }) as never
    const quota = createQuota({ policy, settingsStore: { ...store, read } })
    for (let i = 0; i < 2; i++) {
      await expect(quota.consume(write)).rejects.toMatchObject({
        code: 'quota_unavailable',
        message: expect.stringContaining('the settings store'),
      })
    }
  })
})

describe('settings of subjects', () => {
  it('those of the 10,000 subjects used last are remembered', async () => {
    const inner = memorySettings()
    const readOf: string[] = []
    const settingsStore: AsyncSettingsStore = {
      ...heldSettings().store,
      read: async () => inner.read(),
      readSubject: async (layer, key) => {
        readOf.push(key)
        return inner.readSubject(layer, key)
      },
    }
    const quota = createQuota({ policy, settingsStore })
    for (let number = 0; number <= 10_000; number++) await quota.consume({ subject: `u${number}`, operation: 'write' })
    expect(readOf).toHaveLength(10_001)
    await quota.consume({ subject: 'u1', operation: 'write' })
    expect(readOf).toHaveLength(10_001)
    await quota.consume({ subject: 'u0', operation: 'write' })
    // Instead of `u2`, which was used before `u1`.
    await quota.consume({ subject: 'u1', operation: 'write' })
    expect(readOf.slice(10_001)).toEqual(['u0'])
    await quota.close()
  })
})
