import { describe, expect, it } from 'vitest'
import { quotaHeaders, rateLimitHeaders } from '../src/http/headers.ts'
import { createQuota, type Decision, memorySettings, memoryStore, QuotaError } from '../src/index.ts'
import type { AsyncStore, SyncSettingsStore } from '../src/store.ts'
import {
  asyncStore,
  flatLimits,
  type Gateway,
  type GatewayOptions,
  gateway,
  gatewayPolicy,
  type Operation,
  START,
  testClock,
} from './support.ts'

const write = { subject: 'u', operation: 'write' } as const
const SILENT: AsyncStore = asyncStore(memoryStore(), () =>
  Promise.reject(new Error('redis://user:secret@host is gone')),
)

async function errorOf(call: () => unknown): Promise<QuotaError> {
  try {
    await call()
  } catch (error) {
    if (error instanceof QuotaError) return error
    throw error
  }
  throw new Error('expected an error')
}

describe('costs at the edges', () => {
  it.each([null, '5', Number.NaN, -1, 1.5, 2 ** 53, {}, [], true, 5n, Number.POSITIVE_INFINITY])(
    'a cost of %o is an error and doesn’t become the price',
    async (cost) => {
      const { quota } = gateway()
      const request = { ...write, cost: cost as number }
      for (const call of ['consume', 'reserve', 'peek'] as const) {
        expect((await errorOf(() => quota[call](request))).code).toBe('invalid_cost')
      }
      expect(quota.statusSync('u').limits['personal-write-1h']!.used).toBe(0)
    },
  )

  it('a cost of undefined is the price, and a cost of 0 is free', () => {
    const { quota } = gateway()
    expect(quota.consumeSync({ ...write, cost: undefined }).cost).toBe(15)
    expect(quota.consumeSync({ ...write, cost: 0 })).toMatchObject({ cost: 0, source: 'free' })
    expect(quota.statusSync('u').limits['personal-write-1h']!.used).toBe(15)
  })
})

describe('texts of a megabyte', () => {
  const long = 'x'.repeat(2 ** 20)

  it.each<[string, object]>([
    ['an operation', { subject: 'u', operation: long }],
    ['a subject by layer', { subject: { [long]: 'u' }, operation: 'write' }],
    ['a cost', { ...write, cost: long }],
    ['an id', { ...write, id: long }],
  ])('a megabyte as %s isn’t repeated in the error', async (_, request) => {
    const { quota } = gateway()
    const error = await errorOf(() => quota.reserve(request as never))
    expect(error.message.length).toBeLessThanOrEqual(500)
    expect(JSON.stringify(error.faults).length).toBeLessThan(2_000)
  })

  it.each<[string, (quota: ReturnType<typeof gateway>['quota']) => Promise<unknown>]>([
    ['a limit to reset', (quota) => quota.reset('u', { limits: [long as never] })],
    ['a layer of a subject', (quota) => quota.subjects.get({ [long]: 'u' } as never)],
    ['a price', (quota) => quota.settings.update({ prices: { [long]: 1 } })],
    ['a mode', (quota) => quota.settings.update({ mode: long as never })],
    ['a number of a subject', (quota) => quota.subjects.set('u', { limits: { [long]: 1 } })],
    ['a bypass', (quota) => quota.subjects.set('u', { bypass: { [long]: true } })],
  ])('a megabyte as %s isn’t repeated in the error or its faults', async (_, call) => {
    const { quota } = gateway()
    const error = await errorOf(() => call(quota))
    expect(error.message.length).toBeLessThanOrEqual(500)
    expect(JSON.stringify(error.faults).length).toBeLessThan(2_000)
  })
})

describe('limits of uncounted decisions', () => {
  const clock = testClock()

  function engine(options: Partial<GatewayOptions>) {
    return createQuota<Operation, Gateway>({
      policy: gatewayPolicy(),
      clock,
      failurePolicy: { read: 'open', write: { local: { expectedProcesses: 2 } } },
      ...options,
    })
  }

  async function decided(): Promise<readonly (readonly [string, Decision<Gateway>])[]> {
    const later = engine({ store: asyncStore(memoryStore({ clock })) })
    const free = await engine({}).consume({ subject: 'u', operation: 'free' })
    const freeLater = await later.consume({ subject: 'u', operation: 'free' })
    const priced = await engine({}).consume({ ...write, cost: 0 })
    const open = await engine({ store: SILENT }).consume({ subject: 'u', operation: 'read' })
    const held = await engine({ store: SILENT }).reserve({ subject: 'u', operation: 'read' })
    let isCut = false
    const cut = asyncStore(memoryStore({ clock }), () => (isCut ? Promise.reject(new Error('cut')) : Promise.resolve()))
    const local = engine({ store: cut })
    await local.consume({ ...write, cost: 1 })
    isCut = true
    const shared = await local.consume({ ...write, cost: 1 })
    return [
      ['free', free],
      ['free of a store that answers later', freeLater],
      ['cost 0', priced],
      ['open', open],
      ['open, reserved', held.decision!],
      ['local', shared],
    ]
  }

  it('a decision lists every limit that applies, counted or not', async () => {
    for (const [what, decision] of await decided()) {
      const limits =
        decision.operation !== 'write' ? [120, 400, 1200, 3000, 10000, 36000] : [60, 200, 600, 1500, 5000, 18000]
      expect([what, Object.values(decision.limits).map(({ limit }) => limit)]).toEqual([what, limits])
      for (const limit of Object.values(decision.limits)) {
        expect(limit).toMatchObject({ used: null, remaining: null, startedAt: null, resetAt: null })
      }
      expect(JSON.parse(JSON.stringify(decision))).toMatchObject({ limits: decision.limits })
    }
  })

  it('headers leave out limits that weren’t counted', async () => {
    for (const [what, decision] of await decided()) {
      expect([what, rateLimitHeaders(decision)]).toEqual([what, {}])
      expect([what, quotaHeaders(decision, { standardHeaders: 'draft-10' })]).toEqual([what, {}])
    }
  })

  it('the limits of a free decision are the subject’s, with disabled layers and stored numbers applied', async () => {
    const quota = engine({})
    await quota.settings.update({ shared: { site: { enabled: false } } })
    await quota.subjects.set('u', { limits: { 'personal-read-1h': 7 } })
    const decision = await quota.consume({ subject: 'u', operation: 'free' })
    expect(Object.values(decision.limits).map(({ limit }) => limit)).toEqual([7, 400, 1200])
  })
})

describe('quota_unavailable', () => {
  const policy = gatewayPolicy(flatLimits(1e6, 1e6))
  const inner = memorySettings()
  const failing: SyncSettingsStore = {
    ...syncOf(inner),
    readSubject() {
      throw new Error('secret')
    },
  }
  const full = { clock: testClock(), maxIds: 1, maxSubjects: 1 }

  it.each<[string, string, () => GatewayOptions]>([
    ['the counters', 'the quota store did not answer', () => ({ policy, store: { ...SILENT } })],
    ['the settings', 'the settings store did not answer', () => ({ policy, settingsStore: failing })],
    [
      'the settings of counters that answer later',
      'the settings store did not answer',
      () => ({ policy, store: asyncStore(memoryStore()), settingsStore: failing }),
    ],
    [
      'a clock',
      'the quota store did not answer: the clock returned NaN',
      () => ({ policy, store: memoryStore({ clock: { now: () => Number.NaN } }) }),
    ],
  ])('quota_unavailable of %s says: %s', async (_, text, options) => {
    const quota = createQuota(options())
    for (const call of ['consume', 'reserve', 'peek'] as const) {
      const error = await errorOf(() => quota[call](write))
      expect(error).toMatchObject({ code: 'quota_unavailable', message: expect.stringContaining(text) })
      expect(error.message).not.toContain('secret')
    }
    expect((await errorOf(() => quota.status('u'))).message).toContain(text)
    // A free operation needs neither.
    expect(await quota.consume({ subject: 'u', operation: 'free' })).toMatchObject({ source: 'free' })
  })

  it('quota_unavailable for a settings document that isn’t an object names its store', async () => {
    const settingsStore = { ...syncOf(inner), sync: false, read: async () => ({ document: {}, version: 1 }) }
    const options = { policy, store: asyncStore(memoryStore()), settingsStore: settingsStore as never }
    for (const call of ['consume', 'peek'] as const) {
      const { message } = await errorOf(() => createQuota<Operation, Gateway>(options)[call](write))
      expect(message).toBe(
        'the settings store did not answer: the settings store gave a document without a revision or a version',
      )
    }
  })

  it('quota_unavailable for a full store says so', async () => {
    const quota = createQuota<Operation, Gateway>({ policy, store: memoryStore(full) })
    await quota.reserve({ ...write, id: 'one' })
    expect((await errorOf(() => quota.reserve({ ...write, id: 'two' }))).message).toContain('1 live ids (maxIds)')
    expect((await errorOf(() => quota.consume({ ...write, subject: 'v' }))).message).toContain('(maxSubjects)')
  })
})

describe('ids at the edges', () => {
  it('an id is remembered even if its price drops to 0 between two tries', async () => {
    for (const isLater of [false, true]) {
      const clock = testClock()
      const inner = memoryStore({ clock })
      const quota = createQuota<Operation, Gateway>({
        policy: gatewayPolicy(),
        clock,
        store: isLater ? asyncStore(inner) : inner,
      })
      let worked = 0
      const run = (id: string): Promise<unknown> => quota.run({ subject: 'u', operation: 'free', id }, () => worked++)
      for (let i = 0; i < 3; i++) await run('free')
      expect(worked).toBe(1)
      expect((await quota.status('u')).limits['personal-read-1h']).toMatchObject({ used: 0, startedAt: null })
      for (const price of [15, 0, 3]) {
        await quota.settings.update({ prices: { write: price } })
        await quota.run({ ...write, id: 'paid' }, () => worked++)
      }
      expect(worked).toBe(2)
      expect((await quota.status('u')).limits['personal-write-1h']).toMatchObject({ used: 15, startedAt: START })
      await expect(quota.run({ ...write, id: 'paid', cost: 1 }, () => worked++)).rejects.toMatchObject({
        code: 'id_conflict',
      })
    }
  })

  it('an id on a free operation needs the store, and the failure policy decides without it', async () => {
    const quota = createQuota<Operation, Gateway>({ policy: gatewayPolicy(), store: SILENT })
    const request = { subject: 'u', operation: 'free', id: 'one' } as const
    expect((await errorOf(() => quota.reserve(request))).code).toBe('quota_unavailable')
    expect(await quota.reserve({ subject: 'u', operation: 'free' })).toMatchObject({ status: 'reserved' })
  })
})

describe('a process’s own changes', () => {
  it('a process’s own change of settings applies to its next decision', async () => {
    for (const isLater of [false, true]) {
      const clock = testClock()
      const inner = memorySettings()
      const later = {
        sync: false,
        isMarked: false,
        read: async () => inner.read(),
        write: async (...args: Parameters<typeof inner.write>) => inner.write(...args),
        readSubject: async (layer: string, key: string) => inner.readSubject(layer, key),
        writeSubject: async (...args: Parameters<typeof inner.writeSubject>) => inner.writeSubject(...args),
        // No watcher is notified.
        watch: () => () => undefined,
      } as const
      const settingsStore = isLater ? later : { ...later, ...syncOf(inner) }
      const quota = createQuota<Operation, Gateway>({ policy: gatewayPolicy(), clock, settingsStore })
      await quota.consume(write)
      await quota.subjects.set('u', { limits: { 'personal-write-1h': 0 } })
      expect((await quota.consume(write)).allowed).toBe(false)
      await quota.subjects.remove('u')
      expect((await quota.consume(write)).allowed).toBe(true)
      await quota.settings.update({ prices: { write: 1 } })
      expect((await quota.consume(write)).cost).toBe(1)
    }
  })
})

function syncOf(inner: SyncSettingsStore): SyncSettingsStore {
  return {
    sync: true,
    isMarked: false,
    read: () => inner.read(),
    write: (document, options) => inner.write(document, options),
    readSubject: (layer, key) => inner.readSubject(layer, key),
    writeSubject: (layer, key, document, options) => inner.writeSubject(layer, key, document, options),
    watch: () => () => undefined,
  }
}
