import { afterEach, describe, expect, it, vi } from 'vitest'
import { createQuota, type Duration, definePolicy, memoryStore, type Policy } from '../src/index.ts'
import type { QuotaStore } from '../src/store.ts'
import { asAnotherProcess } from './support.ts'

const ENGINES = 300

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const quota of opened.splice(0)) await quota.close()
})

/** A store that says where it keeps its counters, as those on servers do. */
function placed(place: string): QuotaStore {
  return { ...asAnotherProcess(memoryStore()), place }
}

interface LimiterOptions {
  readonly per?: Duration
  readonly name?: string
  readonly by?: string
  /** Another copy's. */
  readonly create?: typeof createQuota
}

function logged() {
  const warnings: string[] = []
  return { warnings, logger: { warn: (message: string) => void warnings.push(message), error: () => undefined } }
}

function limiter(store: QuotaStore, limit: number, options: LimiterOptions = {}) {
  const { per = '15m', name = 'api', by = 'user', create = createQuota } = options
  const { warnings, logger } = logged()
  const quota = create({ limits: { [name]: { by, limit, per } }, store, logger })
  opened.push(quota)
  return { quota, warnings }
}

const CONFLICT =
  'quota: two open engines count in the same counter, "api" of requests in layer "user", with the limits 100 and 5: ' +
  'rename the limits of one of them'

const SHARED =
  'quota: shared_counter: two open engines count in the same counter, "api" of requests in layer "user": ' +
  "if they aren't meant to share it, rename the limit of one of them"

describe('limiters with one counter and one number', () => {
  it('two policies on one store object cause one warning, however many engines follow', () => {
    const store = memoryStore()
    expect(limiter(store, 100).warnings).toEqual([])
    expect(limiter(store, 100).warnings).toEqual([SHARED])
    expect(limiter(store, 100).warnings).toEqual([])
  })

  it('another name, layer, length and store, and a closed engine, cause no warning', async () => {
    const store = memoryStore()
    const first = limiter(store, 100)
    for (const options of [{ name: 'login' }, { by: 'ip' }, { per: '1d' }] as const) {
      expect(limiter(store, 100, options).warnings).toEqual([])
    }
    expect(limiter(memoryStore(), 100).warnings).toEqual([])
    await first.quota.close()
    expect(limiter(store, 100).warnings).toEqual([])
  })

  it('engines of one policy cause no warning, because it is theirs on purpose', () => {
    const store = memoryStore()
    const policy = definePolicy({ limits: { api: { by: 'user', limit: 100, per: '15m' } } })
    const { warnings, logger } = logged()
    for (const each of [policy, policy, { ...policy, answers: () => ({}) }])
      opened.push(createQuota({ policy: each, store, logger }))
    expect(warnings).toEqual([])
  })
})

describe('limiters with one counter', () => {
  it('two limiters with one counter are rejected on one store object', () => {
    const store = memoryStore()
    limiter(store, 100)
    expect(() => limiter(store, 5)).toThrow(
      expect.objectContaining({ code: 'shared_counter', message: CONFLICT.slice('quota: '.length) }),
    )
  })

  it('two limiters with one counter on two stores of one database cause one warning', () => {
    limiter(placed('redis://host:6379/0 q'), 100)
    expect(limiter(placed('redis://host:6379/0 q'), 5).warnings).toEqual([CONFLICT])
    expect(limiter(placed('redis://host:6379/1 q'), 5).warnings).toEqual([])
  })

  it('two limiters with one counter are detected across copies of the package', async () => {
    vi.resetModules()
    const copy = await import('../src/index.ts')
    expect(copy.createQuota).not.toBe(createQuota)
    limiter(placed('here'), 100)
    expect(limiter(placed('here'), 5, { create: copy.createQuota }).warnings).toEqual([CONFLICT])
  })

  it('detecting two limiters with one counter doesn’t walk all open engines', () => {
    const deref = vi.spyOn(WeakRef.prototype, 'deref')
    const before = deref.mock.calls.length
    for (let i = 0; i < ENGINES; i++) {
      limiter(placed(`many ${i}`), i)
      limiter(placed('one'), 100)
    }
    const reads = deref.mock.calls.length - before
    deref.mockRestore()
    expect(reads).toBeLessThan(ENGINES * 8)
    expect(limiter(placed('one'), 5).warnings).toEqual([CONFLICT])
  })

  it('limiters with different names have separate counters', async () => {
    const store = memoryStore()
    const api = limiter(store, 100)
    const login = limiter(store, 5, { name: 'login' })
    expect([...api.warnings, ...login.warnings]).toEqual([])
    for (let i = 0; i < 6; i++) await api.quota.consume({ subject: 'u' })
    expect(await login.quota.consume({ subject: 'u' })).toMatchObject({ allowed: true, limits: { login: { used: 1 } } })
  })
})

describe('limiters that don’t conflict', () => {
  it('two limiters with different windows cause no warning', () => {
    const store = memoryStore()
    limiter(store, 10, { per: '1s' })
    expect(limiter(store, 1_000, { per: '1d' }).warnings).toEqual([])
  })

  it('a limiter that replaces a closed one with another limit causes no warning', async () => {
    const store = memoryStore()
    await limiter(store, 10).quota.close()
    expect(limiter(store, 20).warnings).toEqual([])
  })

  it('limiters of one name in separate stores cause no warning', () => {
    limiter(memoryStore(), 100)
    expect(limiter(memoryStore(), 5).warnings).toEqual([])
  })

  it('limits of another unit or layer don’t conflict, and what they count doesn’t matter', () => {
    const store = memoryStore()
    const open = (policy: Policy) => opened.push(createQuota({ policy, store, logger: false }))
    open(definePolicy({ limits: { api: { by: 'user', limit: 1, per: '1h' } } }))
    open(definePolicy({ limits: { api: { by: 'team', limit: 2, per: '1h' } } }))
    open(
      definePolicy({
        limits: { api: { by: 'user', limit: 3, of: 'tokens', per: '1h' } },
        operations: { call: { cost: { tokens: 1 } } },
      }),
    )
    const ofReads = definePolicy({
      limits: { api: { by: 'user', limit: 9, per: '1h', for: 'read' }, all: { shared: 'all', limit: 9, per: '1h' } },
      operations: { read: {}, write: {} },
    })
    expect(() => open(ofReads)).toThrow(/limits 1 and 9/)
  })
})
