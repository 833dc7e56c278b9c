import { afterEach, describe, expect, it, vi } from 'vitest'
import { createQuota, definePolicy, memoryStore, type QuotaStore, simpleQuota } from '../src/index.ts'
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
  readonly per?: '15m' | '1d' | '1s'
  readonly name?: string
  /** Another copy's. */
  readonly simple?: typeof simpleQuota
}

function limiter(store: QuotaStore, limit: number, { simple = simpleQuota, ...options }: LimiterOptions = {}) {
  const warnings: string[] = []
  const logger = { warn: (message: string) => void warnings.push(message), error: () => undefined }
  const quota = simple({ limit, per: '15m', ...options, store, logger })
  opened.push(quota)
  return { quota, warnings }
}

const CONFLICT =
  'quota: two open engines count in the same counter, "15m" of tokens in layer "personal", category "all", with the limits 100 and 5: ' +
  "give each limiter a name of its own, simpleQuota({ name: 'login', .. }), or with createQuota() each policy its own layer names"

const UNNAMED =
  'quota: two limiters without a name share the counter "15m" of tokens in layer "personal", category "all": ' +
  "give each a name of its own, simpleQuota({ name: 'login', .. }), or close the one that this one replaces"

describe('limiters without a name that have the same limit', () => {
  it('two limiters on one store object cause one warning', () => {
    const store = memoryStore()
    expect(limiter(store, 100).warnings).toEqual([])
    expect(limiter(store, 100).warnings).toEqual([UNNAMED])
  })

  it('two stores on the same data cause one warning, and so does one such store', () => {
    const store = placed('redis://unnamed')
    limiter(store, 100)
    expect(limiter(store, 100).warnings).toEqual([UNNAMED])
    expect(limiter(placed('redis://unnamed'), 100).warnings).toEqual([UNNAMED])
    expect(limiter(placed('redis://other'), 100).warnings).toEqual([])
  })

  it('a name, another window and a closed limiter cause no warning', async () => {
    const store = memoryStore()
    const first = limiter(store, 100)
    for (const options of [{ name: 'personal' }, { name: 'login' }, { per: '1d' }] as const) {
      expect(limiter(store, 100, options).warnings).toEqual([])
    }
    await first.quota.close()
    expect(limiter(store, 100).warnings).toEqual([])
  })

  it('an engine with the same policy causes no warning', () => {
    const store = memoryStore()
    const { quota } = limiter(store, 100)
    const warnings: string[] = []
    const logger = { warn: (message: string) => void warnings.push(message), error: () => undefined }
    opened.push(createQuota({ policy: quota.policy, store, logger }))
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
    expect(copy.simpleQuota).not.toBe(simpleQuota)
    limiter(placed('here'), 100)
    expect(limiter(placed('here'), 5, { simple: copy.simpleQuota }).warnings).toEqual([CONFLICT])
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

  it('limiters with different names have separate counters, and the fields show the names', async () => {
    const store = memoryStore()
    const api = limiter(store, 100)
    const login = limiter(store, 5, { name: 'login' })
    expect([...api.warnings, ...login.warnings]).toEqual([])
    for (let i = 0; i < 6; i++) await api.quota.consume({ subject: 'u', operation: 'request' })
    const decision = await login.quota.consume({ subject: 'u', operation: 'request' })
    expect(decision).toMatchObject({ allowed: true, windows: [{ layer: 'login', scope: 'login', used: 1 }] })
  })
})

describe('limiters that don’t conflict', () => {
  it('two limiters with different windows cause no warning', () => {
    const store = memoryStore()
    limiter(store, 10, { per: '1s' })
    expect(limiter(store, 1_000, { per: '1d' }).warnings).toEqual([])
  })

  it('two limiters with the same limit and name, as in two processes, cause no warning', () => {
    const store = memoryStore()
    limiter(store, 10, { name: 'api' })
    expect(limiter(store, 10, { name: 'api' }).warnings).toEqual([])
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

  it('limits of one number in another unit, layer or category cause no warning', () => {
    const store = memoryStore()
    const policyOf = (layer: string, category: string, limit: number) =>
      definePolicy({
        windows: [{ label: '1h' }],
        categories: [category],
        layers: [{ name: layer }],
        operations: { call: { category, cost: 1 } },
        base: { [layer]: { [category]: { '1h': limit } } },
      })
    const pairs = [
      ['user', 'read', 1],
      ['team', 'read', 2],
      ['user', 'write', 3],
    ] as const
    for (const [layer, category, limit] of pairs) {
      opened.push(createQuota({ policy: policyOf(layer, category, limit), store }))
    }
    expect(() => createQuota({ policy: policyOf('user', 'read', 9), store })).toThrow(/limits 1 and 9/)
  })
})

describe('names of limiters', () => {
  it.each(['', 'log in', 'x'.repeat(33), 5, '__proto__ '])('the limiter name %j is rejected', (name) => {
    expect(() => simpleQuota({ limit: 1, per: '1m', name: name as string })).toThrow(
      expect.objectContaining({ code: 'invalid_options', faults: [expect.objectContaining({ path: 'name' })] }),
    )
  })

  it('the option keyPrefix is rejected with a hint at `name`', () => {
    expect(() => simpleQuota({ limit: 1, per: '1m', keyPrefix: 'login' } as never)).toThrow(
      /use `name` for the counters/,
    )
  })
})
