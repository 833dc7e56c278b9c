import { type Mistake, testMistakes } from '@scoregw/mistakes'
import { describe, expect, it } from 'vitest'
import { createQuota, type Duration, memoryStore, quotaExceededBody, simpleQuota } from '../src/index.ts'

const NOON = Date.UTC(2026, 7, 6, 12)

describe('simpleQuota', () => {
  it('simpleQuota() gives each subject a number of requests per window and the time of the next ones', async () => {
    const clock = { time: NOON, now: () => clock.time }
    const quota = simpleQuota({ limit: 3, per: '15m', clock })
    for (let request = 1; request <= 3; request++) {
      expect((await quota.consume({ subject: 'u42' })).allowed).toBe(true)
    }
    expect(await quota.consume({ subject: 'u42' })).toMatchObject({ allowed: false, retryAfterSeconds: 900 })
    expect((await quota.consume({ subject: 'u43' })).allowed).toBe(true)
    clock.time += 899_999
    expect((await quota.peek({ subject: 'u42' })).allowed).toBe(false)
    clock.time += 1
    expect((await quota.peek({ subject: 'u42' })).allowed).toBe(true)
  })

  it('simpleQuota() has every engine call, each without an operation', async () => {
    const quota = simpleQuota({ limit: 10, per: '1h' })
    expect(quota.consumeSync({ subject: 'u', cost: 2 })).toMatchObject({ allowed: true, operation: 'request', cost: 2 })
    expect(quota.consumeSync({ subject: 'u', operation: 'request' }).allowed).toBe(true)
    expect(quota.peekSync({ subject: 'u' }).allowed).toBe(true)
    expect(quota.reserveSync({ subject: 'u', id: 'a' }).status).toBe('reserved')
    expect((await quota.reserve({ subject: 'u', id: 'a' })).status).toBe('duplicate')
    expect(await quota.run({ subject: 'u' }, () => 'done')).toMatchObject({ allowed: true, value: 'done' })
    expect(quota.statusSync('u').windows.all).toMatchObject([{ window: '1h', limit: 10, used: 5 }])
  })

  it('simpleQuota() and the equivalent policy share counters', async () => {
    const store = memoryStore()
    const simple = simpleQuota({ limit: 5, per: '1d', store })
    await simple.consume({ subject: 'u', cost: 4 })
    const { policy } = simple
    const grown = createQuota({
      store,
      policy: {
        ...policy,
        layers: [...policy.layers, { name: 'site', scope: 'Site', shared: true }],
        operations: { ...policy.operations, search: { category: 'all', cost: 2 } },
        base: { ...policy.base, site: { all: { '1d': 1_000 } } },
      },
    })
    expect(await grown.consume({ subject: 'u', operation: 'search' })).toMatchObject({ allowed: false })
    expect(await grown.consume({ subject: 'u', operation: 'request' })).toMatchObject({ allowed: true })
  })

  it.each<[Duration, string, number]>([
    ['30s', '30s', 30_000],
    ['15m', '15m', 900_000],
    ['60m', '1h', 3_600_000],
    ['24h', '1d', 86_400_000],
    ['366d', '366d', 366 * 86_400_000],
    [900_000, '15m', 900_000],
    [1_500, '1500ms', 1_500],
  ])('simpleQuota() takes %s as the length of its window', (per, label, lengthMs) => {
    expect(simpleQuota({ limit: 1, per }).policy.windows).toEqual([{ label, lengthMs }])
  })

  it('simpleQuota() refusals have neutral texts', async () => {
    const quota = simpleQuota({ limit: 0, per: '15m', clock: { now: () => NOON } })
    const decision = await quota.consume({ subject: 'u' })
    if (decision.allowed) throw new Error('expected a refusal')
    expect(quotaExceededBody(decision).msg).toBe('Limit reached: 0 requests per 15 minutes.')
  })

  it('simpleQuota() applies the failure policy', async () => {
    const away = { now: (): number => Number.NaN }
    const store = memoryStore({ clock: away })
    const open = simpleQuota({ limit: 1, per: '1h', store, failurePolicy: 'open' })
    expect(await open.consume({ subject: 'u' })).toMatchObject({ allowed: true, source: 'fallback' })
    await expect(simpleQuota({ limit: 1, per: '1h', store }).consume({ subject: 'u' })).rejects.toThrow(
      expect.objectContaining({ code: 'quota_unavailable' }),
    )
  })
})

function made(options: unknown): Mistake['make'] {
  return () => simpleQuota(options as never)
}

const code = 'invalid_options'
const mistakes: readonly Mistake[] = [
  ...['minute', '1 hour', '1mo'].map((per) => ({
    written: `simpleQuota({ limit: 1, per: '${per}' })`,
    make: made({ limit: 1, per }),
    code,
    says: ['per: expected', '"30s", "15m", "12h" or "7d"', 'every: "month"', `got "${per}"`],
  })),
  {
    written: "simpleQuota(...).consume('u42')",
    make: () => simpleQuota({ limit: 1, per: '1h' }).consume('u42' as never),
    code: 'invalid_subject',
    says: ['pass { subject: "u42" }'],
  },
  {
    written: "simpleQuota(...).consume({ key: 'u42' })",
    make: () => simpleQuota({ limit: 1, per: '1h' }).consume({ key: 'u42' } as never),
    code: 'invalid_request',
    says: ['key: unknown key; use `subject`'],
  },
  { written: 'simpleQuota()', make: made(undefined), code, says: ['simpleQuota({ limit, per })', 'got nothing'] },
  { written: 'simpleQuota(100)', make: made(100), code, says: ['simpleQuota({ limit, per })', 'got a number'] },
  {
    written: 'simpleQuota({})',
    make: made({}),
    code,
    says: ['limit: missing; expected a whole number of tokens', 'per: missing; expected a time'],
  },
  {
    written: "simpleQuota({ limit: '100', per: '15 minutes' })",
    make: made({ limit: '100', per: '15 minutes' }),
    code,
    says: ['limit: expected a whole number', 'got "100"', 'per: expected a time like "30s", "15m"'],
  },
  {
    written: "simpleQuota({ limit: 'unlimited', per: '1h' })",
    make: made({ limit: 'unlimited', per: '1h' }),
    code,
    says: ['limit: expected a whole number', 'got "unlimited"'],
  },
  { written: "simpleQuota({ limit: 1, per: '1.5h' })", make: made({ limit: 1, per: '1.5h' }), code, says: ['per: '] },
  { written: "simpleQuota({ limit: 1, per: '2y' })", make: made({ limit: 1, per: '2y' }), code, says: ['per: '] },
  { written: "simpleQuota({ limit: 1, per: '367d' })", make: made({ limit: 1, per: '367d' }), code, says: ['per: '] },
  { written: 'simpleQuota({ limit: 1, per: 60 })', make: made({ limit: 1, per: 60 }), code, says: ['milliseconds'] },
  {
    written: 'simpleQuota({ max: 100, windowMs: 60_000 })',
    make: made({ max: 100, windowMs: 60_000 }),
    code,
    says: ['use `limit`', 'use `per`'],
  },
  {
    written: "simpleQuota({ limt: 1, per: '1h' })",
    make: made({ limt: 1, per: '1h' }),
    code,
    says: ['did you mean "limit"?'],
  },
  {
    written: "simpleQuota({ limit: 1, per: '1h', policy })",
    make: made({ limit: 1, per: '1h', policy: {} }),
    code,
    says: ['call createQuota({ policy })'],
  },
  {
    written: "simpleQuota({ limit: 1, per: '1h', failurePolicy: { read: 'open' } })",
    make: made({ limit: 1, per: '1h', failurePolicy: { read: 'open' } }),
    code,
    says: ['failurePolicy: expected "closed", "open", or'],
  },
  {
    written: "createQuota({ limit: 100, per: '15m' })",
    make: () => createQuota({ limit: 100, per: '15m' } as never),
    code,
    says: ['policy: missing', 'simpleQuota({ limit, per })'],
  },
]

describe('mistakes in simpleQuota() options', () => testMistakes(mistakes, './simple-mistakes.txt'))
