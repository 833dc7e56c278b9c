import vm from 'node:vm'
import { describe, expect, it } from 'vitest'
import { type FactorStore, initialFactor, memoryFactor } from '../src/adaptive.ts'
import { createQuota, memorySettings, memoryStore } from '../src/index.ts'
import type { AsyncSettingsStore, AsyncStore, SettingsStore, SyncSettingsStore, SyncStore } from '../src/store.ts'
import {
  asyncStore,
  flatLimits,
  type Gateway,
  type GatewayQuota,
  gatewayPolicy,
  type Operation,
  testClock,
} from './support.ts'

const policy = gatewayPolicy(flatLimits(30, 1e6))
const write = { subject: 'u', operation: 'write' } as const

/** A promise of another realm: no instance of this one's. */
const foreign = vm.runInNewContext('(ask) => new Promise((resolve) => resolve(ask()))') as Later
/** Spelt apart: nobody is to take what has it for a promise by accident. */
const THEN = 'then'

type Later = <T>(ask: () => T) => PromiseLike<T>

/** How other libraries answer. Each counts how often the work is done. */
const kinds: readonly (readonly [string, Later])[] = [
  ['a promise of another realm', foreign],
  [
    'an object with then',
    (ask) => {
      const value = ask()
      return { [THEN]: (done) => Promise.resolve(value).then(done) }
    },
  ],
  // As query builders do: nothing is done before `then` is called.
  [
    'a query that is carried out on then',
    (ask) => ({ [THEN]: (done, failed) => Promise.resolve().then(ask).then(done, failed) }),
  ],
  [
    'an object with then whose answer has then',
    (ask) => ({
      [THEN]: (done) => Promise.resolve().then(() => done?.(Promise.resolve(ask()) as never)) as never,
    }),
  ],
]

function settingsOf(later: Later, inner: SyncSettingsStore): AsyncSettingsStore {
  return {
    sync: false,
    isMarked: false,
    read: () => later(() => inner.read()),
    write: (document, options) => later(() => inner.write(document, options)),
    readSubject: (layer, key) => later(() => inner.readSubject(layer, key)),
    writeSubject: (layer, key, document, options) => later(() => inner.writeSubject(layer, key, document, options)),
    watch: (listener) => inner.watch(listener),
  }
}

/** The same requests to an engine, whatever its stores answer with. */
async function asked(quota: GatewayQuota): Promise<void> {
  expect(await quota.consume(write)).toMatchObject({ allowed: true, source: 'store', settingsVersion: 0 })
  const held = await quota.reserve({ ...write, id: 'one' })
  expect(held.status).toBe('reserved')
  expect(await quota.consume(write)).toMatchObject({ allowed: false })
  await held.commit(5)
  expect((await quota.status('u')).limits['personal-write-1h']).toMatchObject({ used: 20 })
  expect(await quota.peek({ ...write, cost: 11 })).toMatchObject({ allowed: false })
  expect(await quota.settings.update({ mode: 'lenient' })).toMatchObject({ settings: { version: 1 } })
  expect((await quota.status('u')).limits['personal-write-1h']).toMatchObject({ limit: 45 })
  expect(await quota.settings.get()).toMatchObject({ mode: 'lenient', version: 1 })
  await quota.subjects.set('u', { limits: { 'personal-write-1h': 21 } })
  expect((await quota.status('u')).limits['personal-write-1h']).toMatchObject({ limit: 21 })
  expect(await quota.subjects.get('u')).toMatchObject({ version: 1, limits: { 'personal-write-1h': 21 } })
  await quota.subjects.remove('u')
  await quota.reset('u')
  expect((await quota.status('u')).limits['personal-write-1h']).toMatchObject({ used: 0, limit: 45 })
}

describe.each(kinds)('a store that answers with %s', (_, later) => {
  it('a store of thenables can hold counters, settings or both', async () => {
    const clock = testClock()
    for (const [countersLater, settingsLater] of [
      [true, false],
      [false, true],
      [true, true],
    ]) {
      const inner = memoryStore({ clock })
      const store: AsyncStore = {
        sync: false,
        open(schema) {
          const counters = inner.open(schema)
          return {
            take: (request) => later(() => counters.take(request)),
            read: (request) => later(() => counters.read(request)),
            settle: (request) => later(() => counters.settle(request)),
            reset: (request) => later(() => counters.reset(request)),
          }
        },
      }
      const settingsStore: SettingsStore = settingsLater ? settingsOf(later, memorySettings()) : memorySettings()
      const quota = createQuota<Operation, Gateway>({
        policy,
        clock,
        store: countersLater ? store : inner,
        settingsStore,
      })
      await asked(quota)
    }
  })

  it('a store of thenables can hold the factor', async () => {
    const inner = memoryFactor()
    inner.compareAndSet(0, 1, { ...initialFactor(), factorHundredths: 80 })
    const factor: FactorStore = { ...inner, sync: false, read: () => later(() => inner.read()) }
    const quota = createQuota({ policy, adaptive: { factor } })
    await quota.ready()
    expect(quota.settings.current().adaptiveFactor).toBe(0.8)
  })
})

describe('stores declared synchronous', () => {
  const never = { [THEN]: (): void => undefined }

  /** Everything that it answers has a `then`, as rows of some ORMs do, and is a value all the same. */
  function valued<T extends object>(value: T): T {
    return Object.assign(value, never)
  }

  function valuedCounters(inner: SyncStore): SyncStore {
    return {
      sync: true,
      open(schema) {
        const counters = inner.open(schema)
        return {
          take: (request) => valued(counters.take(request)),
          read: (request) => valued(counters.read(request)),
          settle: (request) => counters.settle(request),
          reset: (request) => counters.reset(request),
        }
      },
    }
  }

  function valuedSettings(): SyncSettingsStore {
    const inner = memorySettings()
    const found = <T extends object>(stored: T | undefined): T | undefined =>
      stored === undefined ? undefined : valued({ ...stored })
    return {
      sync: true,
      isMarked: false,
      read: () => found(inner.read()),
      write: (document, options) => valued(inner.write(document, options)),
      readSubject: (layer, key) => found(inner.readSubject(layer, key)),
      writeSubject: (layer, key, document, options) => valued(inner.writeSubject(layer, key, document, options)),
      watch: (listener) => inner.watch(listener),
    }
  }

  it('a synchronous store may answer with values that have a then() method', async () => {
    const clock = testClock()
    const store = (): SyncStore => valuedCounters(memoryStore({ clock }))
    await asked(createQuota<Operation, Gateway>({ policy, clock, store: store(), settingsStore: valuedSettings() }))
    await asked(
      createQuota<Operation, Gateway>({
        policy,
        clock,
        store: store(),
        settingsStore: settingsOf(foreign, memorySettings()),
      }),
    )
    await asked(
      createQuota<Operation, Gateway>({
        policy,
        clock,
        store: asyncStore(memoryStore({ clock })),
        settingsStore: valuedSettings(),
      }),
    )
  })

  it('a synchronous factor store may answer with a value that has a then() method', () => {
    const inner = memoryFactor()
    inner.compareAndSet(0, 1, { ...initialFactor(), factorHundredths: 80 })
    const quota = createQuota({ policy, adaptive: { factor: { ...inner, read: () => valued({ ...inner.read()! }) } } })
    expect(quota.settings.current().adaptiveFactor).toBe(0.8)
  })
})
