import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createQuota, memoryStore, QuotaError, type QuotaErrorCode } from '../src/index.ts'
import { asyncStore, fixture, START, testPolicy } from './support.ts'

function thrown(call: () => unknown): QuotaErrorCode | undefined {
  try {
    call()
    return undefined
  } catch (error) {
    if (error instanceof QuotaError) return error.code
    throw error
  }
}

describe('invalid costs', () => {
  it.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, 2 ** 53, '5', null, 5n, {}])(
    'the cost %s throws and gives no decision',
    (cost) => {
      const { quota } = fixture()
      const request = { subject: 'u', operation: 'write', cost: cost as number } as const
      expect(thrown(() => quota.consumeSync(request))).toBe('invalid_cost')
      expect(thrown(() => quota.peekSync(request))).toBe('invalid_cost')
      expect(thrown(() => quota.reserveSync(request))).toBe('invalid_cost')
      expect(quota.statusSync('u').windows.write?.[0]).toMatchObject({ used: 0, startedAt: null })
    },
  )

  it('a cost getter with changing values is charged as it was checked', async () => {
    const { quota } = fixture()
    let reads = 0
    const cost = {
      get tokens() {
        reads++
        return reads === 1 ? 5 : Number.NaN
      },
    }
    const request = { subject: 'u', operation: 'write', cost: cost as never } as const
    const used = () => quota.statusSync('u').windows.write?.[0]?.used
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
    const { quota } = fixture()
    const huge = { subject: 'u', operation: 'write', cost: Number.MAX_SAFE_INTEGER } as const
    expect(quota.consumeSync(huge)).toMatchObject({ allowed: false, retryable: false })
    await quota.subjects.set('u', {
      overrides: { write: { '1h': 'unlimited', '5h': 'unlimited', '1d': 'unlimited' } },
      bypass: ['site'],
    })
    quota.consumeSync(huge)
    quota.consumeSync(huge)
    expect(quota.statusSync('u').windows.write?.[0]).toMatchObject({
      used: Number.MAX_SAFE_INTEGER,
      limit: 'unlimited',
      remaining: 'unlimited',
    })
  })
})

describe('unusual subjects', () => {
  it.each([[''], [undefined], [null], [5], [{}], [['u']], [{ personal: 5 }]])(
    'the subject %j is rejected',
    (subject) => {
      const { quota } = fixture()
      expect(thrown(() => quota.consumeSync({ subject: subject as string, operation: 'write' }))).toBe(
        'invalid_subject',
      )
      expect(thrown(() => quota.statusSync(subject as string))).toBe('invalid_subject')
    },
  )

  it('a subject with a key for an unknown layer is rejected', () => {
    const subject = { personal: 'u', site: 'mine' }
    expect(thrown(() => fixture().quota.consumeSync({ subject, operation: 'write' }))).toBe('invalid_subject')
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
        const { quota } = fixture()
        for (const [index, subject] of subjects.entries()) {
          quota.consumeSync({ subject, operation: 'write', cost: index + 1 })
          quota.reserveSync({ subject, operation: 'read', cost: index + 1, id: subjects[0]! })
        }
        const used = subjects.map((subject) => quota.statusSync(subject).windows.write![0]!.used)
        expect(used).toEqual(subjects.map((_, index) => index + 1))
        const reads = subjects.map((subject) => quota.statusSync(subject).windows.read![0]!.used)
        expect(reads).toEqual(used)
      }),
    )
  })

  it('a subject of any length is accepted', () => {
    expect(fixture().quota.consumeSync({ subject: 'é'.repeat(128), operation: 'write' }).allowed).toBe(true)
  })
})

describe('unknown operations', () => {
  it.each(['fly', '', '__proto__', 'constructor', 'toString', undefined, 5])(
    'the operation %s is unknown',
    (operation) => {
      const { quota } = fixture()
      expect(thrown(() => quota.consumeSync({ subject: 'u', operation: operation as 'write' }))).toBe(
        'unknown_operation',
      )
    },
  )
})

describe('window lengths', () => {
  it.each([1_000, 30 * 86_400_000, 366 * 86_400_000])('windows of %i ms end on time', (lengthMs) => {
    const clock = { at: START, now: () => clock.at }
    const quota = createQuota({
      clock,
      policy: {
        ...testPolicy(),
        windows: [{ label: 'w', lengthMs }],
        base: { personal: { read: { w: 1 }, write: { w: 20 } }, site: { read: { w: 1 }, write: { w: 20 } } },
      },
    })
    expect(quota.consumeSync({ subject: 'u', operation: 'write' }).allowed).toBe(true)
    clock.at += lengthMs - 1
    expect(quota.consumeSync({ subject: 'u', operation: 'write' })).toMatchObject({ allowed: false, retryAfterMs: 1 })
    clock.at += 1
    expect(quota.consumeSync({ subject: 'u', operation: 'write' }).allowed).toBe(true)
  })
})

describe('a closed engine', () => {
  it('every call of a closed engine fails with quota_closed', async () => {
    const { quota } = fixture()
    await quota.close()
    await quota.close()
    expect(thrown(() => quota.consumeSync({ subject: 'u', operation: 'write' }))).toBe('quota_closed')
    await expect(quota.status('u')).rejects.toMatchObject({ code: 'quota_closed' })
    await expect(quota.reset('u')).rejects.toMatchObject({ code: 'quota_closed' })
    await expect(quota.ready()).rejects.toMatchObject({ code: 'quota_closed' })
    const later = createQuota({ policy: testPolicy(), store: asyncStore(memoryStore()) })
    await later.close()
    await expect(later.consume({ subject: 'u', operation: 'write' })).rejects.toMatchObject({ code: 'quota_closed' })
    await expect(later.reserve({ subject: 'u', operation: 'write' })).rejects.toMatchObject({ code: 'quota_closed' })
  })
})
