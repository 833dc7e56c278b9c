import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { createQuota, memoryStore, money, parsePolicy, QuotaError, type QuotaErrorCode } from '../src/index.ts'
import { asyncStore, type GatewayEngine, gateway, gatewayPolicy, START } from './support.ts'

function thrown(call: () => unknown): QuotaErrorCode | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    if (error instanceof QuotaError) return error.code
    throw error
  }
}

function perHour(quota: GatewayEngine['quota'], subject = 'u') {
  return quota.statusSync(subject).limits['personal-write-1h']
}

describe('invalid costs', () => {
  it.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, 2 ** 53, '5', null, 5n, {}])(
    'the cost %s throws and gives no decision',
    (cost) => {
      const { quota } = gateway()
      const request = { subject: 'u', operation: 'write', cost: cost as number } as const
      expect(thrown(() => quota.consumeSync(request))).toBe('invalid_cost')
      expect(thrown(() => quota.peekSync(request))).toBe('invalid_cost')
      expect(thrown(() => quota.reserveSync(request))).toBe('invalid_cost')
      expect(perHour(quota)).toMatchObject({ used: 0, startedAt: null })
    },
  )

  it('a cost getter with changing values is charged as it was checked', async () => {
    const { quota } = gateway()
    let reads = 0
    const cost = {
      get tokens() {
        reads++
        return reads === 1 ? 5 : Number.NaN
      },
    }
    const request = { subject: 'u', operation: 'write', cost: cost as never } as const
    const used = () => perHour(quota)?.used
    quota.consumeSync(request)
    expect([reads, used()]).toEqual([1, 5])
    const hold = quota.reserveSync({ ...request, cost: 5, ttlMs: 60_000 })
    if (hold.status !== 'reserved') throw new Error('it is to be admitted')
    reads = 0
    hold.add(cost as never)
    expect(used()).toBe(15)
    expect(thrown(() => hold.commit(cost as never))).toBe('invalid_cost')
    expect(used()).toBe(15)
  })

  it('the largest possible costs are refused or, without a limit, counted without overflow', async () => {
    const { quota } = gateway()
    const huge = { subject: 'u', operation: 'write', cost: Number.MAX_SAFE_INTEGER } as const
    expect(quota.consumeSync(huge)).toMatchObject({ allowed: false, retryable: false })
    await quota.subjects.set('u', {
      limits: { 'personal-write-1h': 'unlimited', 'personal-write-5h': 'unlimited', 'personal-write-1d': 'unlimited' },
      bypass: { site: true },
    })
    quota.consumeSync(huge)
    quota.consumeSync(huge)
    expect(perHour(quota)).toMatchObject({
      used: Number.MAX_SAFE_INTEGER,
      limit: 'unlimited',
      remaining: 'unlimited',
    })
  })
})

describe('values of any shape', () => {
  const odd = fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'toJSON',
    'valueOf',
    'unit',
    'millionths',
    'USD',
    'limit',
  )
  const name = fc.oneof(
    fc.constantFrom('api', 'user', 'save', 'tokens', 'by', 'per', 'of', 'burst', 'for', 'cost'),
    odd,
  )
  const leaf = fc.oneof(
    fc.constantFrom(
      '1m',
      'UTC',
      'month',
      'user',
      'api',
      'save',
      'tokens',
      'unlimited',
      '1.00',
      '',
      null,
      true,
      undefined,
    ),
    fc.constantFrom(0, 1, -1, 0.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, 5n, Symbol('s')),
    fc.constantFrom(() => 1, new Date(0), new Map(), [], [[]], /x/, Object.create(null)),
  )
  const { any } = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      tie('record'),
      fc.array(tie('any'), { maxLength: 3 }),
    ),
    record: fc.dictionary(name, tie('any'), { maxKeys: 4 }),
  }))
  const rarely = fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: any })
  const members = ['by', 'shared', 'limit', 'per', 'of', 'burst', 'every', 'timeZone', 'for', 'formerly', 'concurrency']
  const limit = fc
    .dictionary(fc.constantFrom(...members), any, { maxKeys: 2 })
    .map((odd) => ({ by: 'user', limit: 1, per: '1m', ...odd }))
  const operation = fc.record({ cost: rarely, free: rarely, category: rarely, overrun: rarely, maxOverrun: rarely })
  const policy = fc.record({
    limits: fc.dictionary(name, fc.oneof({ weight: 9, arbitrary: limit }, { weight: 1, arbitrary: any }), {
      maxKeys: 3,
    }),
    operations: fc.oneof(rarely, fc.dictionary(name, operation, { maxKeys: 3 })),
    ...{ plans: rarely, unit: rarely, titles: rarely, planOf: rarely, answers: rarely },
  })

  it('any policy is a policy, or invalid_policy with its faults', () => {
    let made = 0
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: policy }, { weight: 1, arbitrary: any }), (value) => {
        const code = thrown(() => parsePolicy(value))
        expect([undefined, 'invalid_policy']).toContain(code)
        if (code !== undefined) return
        createQuota({ policy: parsePolicy(value), calendar: luxonCalendar(), logger: false })
        made++
      }),
      {
        numRuns: 500,
        examples: [[{ limits: { api: { per: { toString: [[]] } } } }]],
      },
    )
    expect(made).toBeGreaterThan(0)
  })

  it('any cost and any limits in a request are used, or an error with a code', () => {
    const usd = money('USD')
    const quota = createQuota({
      limits: {
        api: { by: 'user', limit: 5, per: '1m' },
        calls: { by: 'user', limit: 5, per: '1m', burst: 2 },
        budget: { by: 'user', limit: usd(1), of: usd, per: '1d' },
      },
      logger: false,
    })
    const limits = fc.oneof(any, fc.record({ api: any, calls: any, budget: any }, { requiredKeys: [] }))
    const cost = fc.oneof(any, fc.record({ requests: any, usd: any }, { requiredKeys: [] }))
    fc.assert(
      fc.property(limits, cost, fc.boolean(), (given, price, isCost) => {
        const request = isCost ? { subject: 'u', cost: price } : { subject: 'u', limits: given }
        const code = thrown(() => quota.peekSync(request as never))
        expect([undefined, isCost ? 'invalid_cost' : 'invalid_request']).toContain(code)
      }),
      { numRuns: 500 },
    )
  })

  it('any settings are stored, or invalid_settings', async () => {
    const quota = createQuota({
      limits: { api: { by: 'user', limit: 5, per: '1m' }, all: { shared: 'site', limit: 5, per: '1m', burst: 2 } },
      operations: { save: {} },
      logger: false,
    })
    const patch = fc.record(
      { limits: any, custom: any, shared: any, prices: any, shadow: any, plans: any, thresholds: any, mode: any },
      { requiredKeys: [] },
    )
    const ofSubject = fc.record(
      { limits: any, bypass: any, plan: any, blocked: any, until: any, anchor: any },
      { requiredKeys: [] },
    )
    const codeOf = async (call: Promise<unknown>) =>
      call.then(
        () => undefined,
        (error: { code?: unknown }) => error.code ?? error,
      )
    await fc.assert(
      fc.asyncProperty(fc.oneof(any, patch), fc.oneof(any, ofSubject), async (settings, subject) => {
        expect([undefined, 'invalid_settings']).toContain(await codeOf(quota.settings.update(settings as never)))
        expect([undefined, 'invalid_settings']).toContain(await codeOf(quota.subjects.set('u', subject as never)))
        quota.peekSync({ subject: 'u', operation: 'save' })
      }),
      { numRuns: 200, examples: [[undefined, undefined]] },
    )
  })
})

describe('unusual subjects', () => {
  it.each([[''], [undefined], [null], [5], [{}], [['u']], [{ personal: 5 }]])(
    'the subject %j is rejected',
    (subject) => {
      const { quota } = gateway()
      expect(thrown(() => quota.consumeSync({ subject: subject as string, operation: 'write' }))).toBe(
        'invalid_subject',
      )
      expect(thrown(() => quota.statusSync(subject as string))).toBe('invalid_subject')
    },
  )

  it('a subject with a key for an unknown layer is rejected', () => {
    const subject = { personal: 'u', site: 'mine' }
    expect(thrown(() => gateway().quota.consumeSync({ subject: subject as never, operation: 'write' }))).toBe(
      'invalid_subject',
    )
  })

  it('subjects with any characters have separate counters', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
      fc.constantFrom(
        '__proto__',
        'constructor',
        '\0',
        '\u0000a',
        'a\u0000',
        '{a}',
        'a:b',
        '\ud800',
        '\udc00',
        '😀',
        '["a"]',
      ),
    )
    fc.assert(
      fc.property(fc.uniqueArray(text, { minLength: 2, maxLength: 8 }), (subjects) => {
        const { quota } = gateway()
        for (const [index, subject] of subjects.entries()) {
          quota.consumeSync({ subject, operation: 'write', cost: index + 1 })
          quota.reserveSync({ subject, operation: 'read', cost: index + 1, id: subjects[0]! })
        }
        const used = subjects.map((subject) => perHour(quota, subject)?.used)
        expect(used).toEqual(subjects.map((_, index) => index + 1))
        const reads = subjects.map((subject) => quota.statusSync(subject).limits['personal-read-1h']?.used)
        expect(reads).toEqual(used)
      }),
    )
  })

  it('a subject of any length is accepted', () => {
    expect(gateway().quota.consumeSync({ subject: 'é'.repeat(128), operation: 'write' }).allowed).toBe(true)
  })
})

describe('unknown operations', () => {
  it.each(['fly', '', '__proto__', 'constructor', 'toString', undefined, 5])(
    'the operation %s is unknown',
    (operation) => {
      const { quota } = gateway()
      expect(thrown(() => quota.consumeSync({ subject: 'u', operation: operation as 'write' }))).toBe(
        'unknown_operation',
      )
    },
  )
})

describe('window lengths', () => {
  it.each([
    ['1s', 1_000],
    ['30d', 30 * 86_400_000],
    ['366d', 366 * 86_400_000],
  ] as const)('windows of %s end on time', (per, lengthMs) => {
    const clock = { at: START, now: () => clock.at }
    const quota = createQuota({ clock, limits: { api: { by: 'user', limit: 1, per } } })
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(true)
    clock.at += lengthMs - 1
    expect(quota.consumeSync({ subject: 'u' })).toMatchObject({ allowed: false, retryAfterMs: 1 })
    clock.at += 1
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(true)
  })
})

describe('a closed engine', () => {
  it('every call of a closed engine fails with quota_closed', async () => {
    const { quota } = gateway()
    await quota.close()
    await quota.close()
    expect(thrown(() => quota.consumeSync({ subject: 'u', operation: 'write' }))).toBe('quota_closed')
    await expect(quota.status('u')).rejects.toMatchObject({ code: 'quota_closed' })
    await expect(quota.reset('u')).rejects.toMatchObject({ code: 'quota_closed' })
    await expect(quota.ready()).rejects.toMatchObject({ code: 'quota_closed' })
    const later = createQuota({ policy: gatewayPolicy(), store: asyncStore(memoryStore()) })
    await later.close()
    await expect(later.consume({ subject: 'u', operation: 'write' })).rejects.toMatchObject({ code: 'quota_closed' })
    await expect(later.reserve({ subject: 'u', operation: 'write' })).rejects.toMatchObject({ code: 'quota_closed' })
  })
})
