import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FactorStore, initialFactor, memoryFactor } from '../src/adaptive.ts'
import { createQuota, memorySettings, memoryStore, type Quota } from '../src/index.ts'
import type { AsyncSettingsStore, AsyncStore } from '../src/store.ts'
import {
  asyncStore,
  flatLimits,
  type Gateway,
  type GatewayOptions,
  type GatewayQuota,
  gatewayPolicy,
  type Operation,
  testClock,
} from './support.ts'

const DEADLINE = 200
/** A timer that fires late looks once more before it gives up. */
const SLACK = 5
const write = { subject: 'u', operation: 'write' } as const

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** How long each call of a store takes; `Infinity`: for ever. */
interface Delays {
  ms: number
}

function delayed<T>(delays: Delays, answer: () => T): Promise<T> {
  const { ms } = delays
  return new Promise((resolve, reject) => {
    const tell = (): void => {
      try {
        resolve(answer())
      } catch (error) {
        reject(error as Error)
      }
    }
    if (ms !== Number.POSITIVE_INFINITY) setTimeout(tell, ms)
  })
}

function slowSettings(delays: Delays): AsyncSettingsStore & { readonly inner: ReturnType<typeof memorySettings> } {
  const inner = memorySettings()
  return {
    inner,
    sync: false,
    isMarked: false,
    read: () => delayed(delays, () => inner.read()),
    write: (document, options) => delayed(delays, () => inner.write(document, options)),
    readSubject: (layer, key) => delayed(delays, () => inner.readSubject(layer, key)),
    writeSubject: (layer, key, document, options) =>
      delayed(delays, () => inner.writeSubject(layer, key, document, options)),
    watch: (listener) => inner.watch(listener),
  }
}

/** What a call comes to, and after how many milliseconds of turned time. */
async function timed(call: Promise<unknown>): Promise<{ ms: number; outcome: unknown }> {
  const startedAt = Date.now()
  let done: { ms: number; outcome: unknown } | undefined
  call.then(
    (outcome) => {
      done = { ms: Date.now() - startedAt, outcome }
    },
    (outcome: unknown) => {
      done = { ms: Date.now() - startedAt, outcome }
    },
  )
  for (let turned = 0; done === undefined && turned < 20 * DEADLINE; turned++) await vi.advanceTimersByTimeAsync(1)
  if (done === undefined) throw new Error('never answered')
  return done
}

interface Made {
  readonly quota: GatewayQuota
  readonly counters: Delays
  readonly settings: Delays
  readonly settingsStore: ReturnType<typeof slowSettings>
  readonly store: ReturnType<typeof memoryStore>
}

function made(options: Partial<GatewayOptions> = {}): Made {
  const clock = testClock()
  const store = memoryStore({ clock })
  const counters = { ms: 0 }
  const settings = { ms: 0 }
  const settingsStore = slowSettings(settings)
  const quota = createQuota<Operation, Gateway>({
    policy: gatewayPolicy(flatLimits(1e6, 1e6)),
    clock,
    store: asyncStore(store, () => delayed(counters, () => undefined)),
    settingsStore,
    deadlineMs: DEADLINE,
    ...options,
  })
  return { quota, counters, settings, settingsStore, store }
}

const calls: readonly (readonly [string, (quota: GatewayQuota) => Promise<unknown>])[] = [
  ['consume', (quota) => quota.consume(write)],
  ['consume with a signal', (quota) => quota.consume({ ...write, signal: new AbortController().signal })],
  ['reserve', (quota) => quota.reserve(write)],
  ['reserve under an id', (quota) => quota.reserve({ ...write, id: 'one' })],
  ['peek', (quota) => quota.peek(write)],
  ['status', (quota) => quota.status('u')],
]

function named(store: string): unknown {
  return expect.stringContaining(`the ${store} store did not answer`)
}

describe.each(calls)('%s', (_, call) => {
  it.each([
    ['the counters never answer', 0, Number.POSITIVE_INFINITY, 'quota', 'quota'],
    ['the settings never answer', Number.POSITIVE_INFINITY, 0, 'settings', 'settings'],
    ['the settings take most of the time, and the counters too', DEADLINE - 20, DEADLINE - 20, 'settings', 'quota'],
    ['all take two thirds', (DEADLINE * 2) / 3, (DEADLINE * 2) / 3, 'settings', 'quota'],
  ])('every call ends after one deadline where %s', async (__, settings, counters, atFirst, later) => {
    for (const isReady of [false, true]) {
      const engine = made()
      if (isReady) await timed(engine.quota.ready())
      engine.settings.ms = settings
      engine.counters.ms = counters
      const { ms, outcome } = await timed(call(engine.quota))
      expect(ms).toBeLessThanOrEqual(DEADLINE + SLACK)
      expect(outcome).toMatchObject({ code: 'quota_unavailable', message: named(isReady ? later : atFirst) })
    }
  })

  it('every call is answered as soon as the stores answer', async () => {
    const engine = made()
    engine.settings.ms = 10
    engine.counters.ms = 20
    const { ms, outcome } = await timed(call(engine.quota))
    expect(ms).toBeLessThanOrEqual(10 + 10 + 20 + SLACK)
    expect(outcome).not.toBeInstanceOf(Error)
  })
})

describe('calls that make no decision', () => {
  it.each<[string, (quota: GatewayQuota) => Promise<unknown>]>([
    ['reset', (quota) => quota.reset('u')],
    ['ready', (quota) => quota.ready()],
    ['settings.get', (quota) => quota.settings.get()],
    ['settings.update', (quota) => quota.settings.update({ mode: 'lenient' })],
    ['settings.faults', (quota) => quota.settings.faults()],
    ['subjects.get', (quota) => quota.subjects.get('u')],
    ['subjects.set', (quota) => quota.subjects.set('u', {})],
    ['subjects.remove', (quota) => quota.subjects.remove('u')],
  ])('%s ends after one deadline', async (_, call) => {
    const engine = made()
    engine.settings.ms = Number.POSITIVE_INFINITY
    engine.counters.ms = Number.POSITIVE_INFINITY
    const { ms, outcome } = await timed(call(engine.quota))
    expect(ms).toBeLessThanOrEqual(DEADLINE + SLACK)
    expect(outcome).toMatchObject({ code: 'quota_unavailable' })
  })

  it('settling ends after one deadline', async () => {
    const engine = made()
    const { outcome } = await timed(engine.quota.reserve(write))
    const reservation = outcome as Awaited<ReturnType<Quota['reserve']>>
    engine.counters.ms = Number.POSITIVE_INFINITY
    const settled = await timed(reservation.commit(1))
    expect(settled.ms).toBeLessThanOrEqual(DEADLINE + SLACK)
    expect(settled.outcome).toMatchObject({ code: 'quota_unavailable' })
  })
})

describe('late answers', () => {
  it('a request that the store admitted after the deadline is given back', async () => {
    const engine = made()
    await timed(engine.quota.consume(write))
    engine.counters.ms = DEADLINE + 50
    const { outcome } = await timed(engine.quota.consume(write))
    expect(outcome).toMatchObject({ code: 'quota_unavailable' })
    const reserved = await timed(engine.quota.reserve({ ...write, id: 'one' }))
    expect(reserved.outcome).toMatchObject({ code: 'quota_unavailable' })
    engine.counters.ms = 0
    await vi.advanceTimersByTimeAsync(10 * DEADLINE)
    const { outcome: status } = await timed(engine.quota.status('u'))
    expect(status).toMatchObject({ limits: { 'personal-write-1h': { used: 15 } } })
  })

  it('a call whose settings arrive too late never reaches the counters', async () => {
    const engine = made()
    // Two looks, the settings and the subject's, each in time by itself.
    engine.settings.ms = DEADLINE - 50
    expect((await timed(engine.quota.consume(write))).outcome).toMatchObject({ message: named('settings') })
    await vi.advanceTimersByTimeAsync(10 * DEADLINE)
    expect(engine.store.size).toBe(0)
  })

  it('settings whose answer was lost are read again by the next call or change', async () => {
    const engine = made()
    engine.settings.ms = Number.POSITIVE_INFINITY
    expect((await timed(engine.quota.consume(write))).outcome).toMatchObject({ code: 'quota_unavailable' })
    engine.settings.ms = 0
    expect((await timed(engine.quota.consume(write))).outcome).toMatchObject({ allowed: true })
    // The same of a look that a change set off.
    engine.settings.ms = Number.POSITIVE_INFINITY
    engine.settingsStore.inner.write({ mode: 'conservative' }, {})
    await vi.advanceTimersByTimeAsync(2 * DEADLINE)
    engine.settings.ms = 0
    engine.settingsStore.inner.write({ mode: 'lenient' }, {})
    await vi.advanceTimersByTimeAsync(10)
    expect(engine.quota.settings.current().settings.mode).toBe('lenient')
  })

  it('a process’s own write applies even if it can’t be read back', async () => {
    const engine = made()
    await timed(engine.quota.ready())
    const { settingsStore, settings } = engine
    const { write: written } = settingsStore
    Object.assign(settingsStore, {
      write: (...args: Parameters<typeof written>) => {
        const reply = written(...args)
        settings.ms = Number.POSITIVE_INFINITY
        return reply
      },
    })
    const { outcome } = await timed(engine.quota.settings.update({ mode: 'lenient' }))
    expect(outcome).toMatchObject({ settings: { version: 1 } })
    expect(engine.quota.settings.current().settings.mode).toBe('lenient')
  })

  it('a late answer with older settings doesn’t replace newer ones', async () => {
    const engine = made()
    await timed(engine.quota.ready())
    const { settingsStore } = engine
    engine.settings.ms = DEADLINE + 100
    settingsStore.inner.write({ mode: 'conservative' }, {})
    const stale = settingsStore.inner.read()
    const { read } = settingsStore
    Object.assign(settingsStore, { read: () => delayed({ ms: DEADLINE + 100 }, () => stale) })
    settingsStore.inner.write({ mode: 'conservative' }, {})
    await vi.advanceTimersByTimeAsync(DEADLINE + 10)
    engine.settings.ms = 0
    Object.assign(settingsStore, { read })
    settingsStore.inner.write({ mode: 'lenient' }, {})
    await vi.advanceTimersByTimeAsync(10 * DEADLINE)
    expect(engine.quota.settings.current().settings).toMatchObject({ mode: 'lenient', version: 3 })
  })

  it('a factor whose answer was lost is read again at the next change and delays nothing', async () => {
    const inner = memoryFactor()
    const delays = { ms: Number.POSITIVE_INFINITY }
    const factor: FactorStore = { ...inner, sync: false, read: () => delayed(delays, () => inner.read()) }
    const { quota } = made({ adaptive: { factor } })
    expect((await timed(quota.ready())).ms).toBeLessThanOrEqual(DEADLINE + SLACK)
    expect((await timed(quota.consume(write))).ms).toBeLessThanOrEqual(SLACK)
    delays.ms = 0
    const state = { ...initialFactor(), factorHundredths: 80 }
    inner.compareAndSet(0, 1, state)
    await vi.advanceTimersByTimeAsync(10)
    expect(quota.settings.current().adaptiveFactor).toBe(0.8)
  })
})

describe('the failure policy at start', () => {
  it('the failure policy decides when the first read of the settings fails', async () => {
    const engine = made({ failurePolicy: { read: 'open', write: 'closed' } })
    engine.settings.ms = Number.POSITIVE_INFINITY
    const read = await timed(engine.quota.consume({ subject: 'u', operation: 'read' }))
    expect(read.ms).toBeLessThanOrEqual(DEADLINE + SLACK)
    expect(read.outcome).toMatchObject({ allowed: true, source: 'fallback' })
    // Whether it is free nobody knows, since its price was not read.
    const { outcome } = await timed(engine.quota.consume({ subject: 'u', operation: 'free' }))
    expect(outcome).toMatchObject({ source: 'fallback' })
    expect((await timed(engine.quota.consume(write))).outcome).toMatchObject({
      code: 'quota_unavailable',
      message: expect.stringContaining('the settings store did not answer'),
    })
  })
})

describe('many concurrent calls', () => {
  it('concurrent calls wait for at most two reads of the settings', async () => {
    const inner = memoryStore({ clock: testClock() })
    let announced = 'an older state'
    const store: AsyncStore = {
      sync: false,
      open(schema) {
        const counters = inner.open(schema)
        return {
          ...asyncStore(inner).open(schema),
          async take(request) {
            if (request.settingsRevision === announced) return counters.take(request)
            return { outcome: 'stale', now: 0, states: [], settingsRevision: announced }
          },
        }
      },
    }
    const settingsStore: AsyncSettingsStore = {
      ...slowSettings({ ms: 20 }),
      isMarked: true,
      async reannounce(revision, seen) {
        if (seen === announced) announced = revision
      },
    }
    const { quota } = made({ store, settingsStore })
    await timed(quota.ready())
    const answers: Promise<{ ms: number; outcome: unknown }>[] = []
    for (let i = 0; i < 50; i++) {
      answers.push(timed(quota.consume(write)))
      await vi.advanceTimersByTimeAsync(1)
    }
    for (const { ms, outcome } of await Promise.all(answers)) {
      expect(outcome).toMatchObject({ allowed: true })
      // Two looks, the subject's settings, and what this test itself turns meanwhile.
      expect(ms).toBeLessThanOrEqual(2 * 20 + 20 + 50)
    }
  })
})
