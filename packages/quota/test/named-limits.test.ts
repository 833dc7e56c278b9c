import { describe, expect, it } from 'vitest'
import { createQuota, definePolicy, memorySettings, memoryStore, money } from '../src/index.ts'
import { testClock, usedIn } from './support.ts'

const usd = money('USD')
const made = (more: object = {}) => {
  const clock = testClock()
  const quota = createQuota({
    clock,
    logger: false,
    limits: {
      perMinute: { by: 'user', limit: 20, per: '1m' },
      tokens: { by: 'user', limit: 100_000, of: 'tokens', per: '1h' },
      budget: { by: 'team', limit: usd(100), of: usd, per: '30d' },
      atOnce: { by: 'user', concurrency: 3, for: 'chat' },
      writes: { by: 'user', limit: 3, per: '1m', for: 'write' },
      writtenTokens: { by: 'user', limit: 500, of: 'tokens', per: '1h', for: ['write', 'late'] },
      service: { shared: 'service', limit: 900, per: '1m' },
    },
    operations: {
      chat: { cost: { tokens: 2_000, usd: usd(0.009) } },
      save: { category: 'write', cost: { tokens: 100 } },
      late: { cost: { tokens: 100 }, overrun: 'fit', maxOverrun: { tokens: 10_000, usd: usd(0) } },
      look: {},
    },
    plans: { 'cloud:pro': { perMinute: 200 }, trial: { budget: usd(0) } },
    ...more,
  })
  return { clock, quota }
}
const ann = { user: 'ann', team: 'blue' }

describe('named limits', () => {
  it('a limit without `for` counts every operation, and one with `for` a part of them, on counters of their own', () => {
    const { quota } = made()
    quota.consumeSync({ subject: ann, operation: 'look' })
    const saved = quota.consumeSync({ subject: ann, operation: 'save' })
    expect(usedIn(saved)).toEqual({ perMinute: 2, tokens: 100, budget: 0, writes: 1, writtenTokens: 100, service: 2 })
    for (let i = 0; i < 2; i++) quota.consumeSync({ subject: ann, operation: 'save' })
    expect(quota.consumeSync({ subject: ann, operation: 'save' })).toMatchObject({ refusedBy: { name: 'writes' } })
    expect(quota.consumeSync({ subject: ann, operation: 'look' }).allowed).toBe(true)
    expect(usedIn(quota.statusSync(ann))).toEqual({
      ...{ perMinute: 5, tokens: 300, budget: 0, atOnce: 0, writes: 3, writtenTokens: 300, service: 5 },
    })
  })

  it('a request that is refused by a part is charged nowhere', () => {
    const { quota } = made()
    quota.consumeSync({ subject: ann, operation: 'save', cost: { tokens: 450 } })
    expect(quota.consumeSync({ subject: ann, operation: 'save' })).toMatchObject({
      refusedBy: { name: 'writtenTokens' },
    })
    expect(usedIn(quota.statusSync(ann))).toMatchObject({ perMinute: 1, tokens: 450, writes: 1, service: 1 })
  })

  it('a limit of a request applies to it alone, on the same counter', () => {
    const { quota } = made()
    for (let i = 0; i < 5; i++) quota.consumeSync({ subject: ann, operation: 'look' })
    const limits = { perMinute: 5 }
    expect(quota.consumeSync({ subject: ann, operation: 'look', limits })).toMatchObject({
      refusedBy: { name: 'perMinute', limit: 5, used: 5 },
    })
    expect(quota.consumeSync({ subject: ann, operation: 'look', limits: { perMinute: 6 } }).allowed).toBe(true)
    expect(usedIn(quota.consumeSync({ subject: ann, operation: 'look' })).perMinute).toBe(7)
  })

  it('a limit of a request is absolute, and a stored one of the subject takes precedence', async () => {
    const { quota } = made()
    await quota.settings.update({ mode: 'lenient' })
    const limitOf = (limits?: { perMinute: number }, plan?: 'cloud:pro') =>
      quota.peekSync({ subject: ann, operation: 'look', limits, plan }).limits.perMinute?.limit
    expect([limitOf(), limitOf(undefined, 'cloud:pro'), limitOf({ perMinute: 7 }, 'cloud:pro')]).toEqual([30, 300, 7])
    await quota.subjects.set({ user: 'ann' }, { limits: { perMinute: 50 } })
    expect(limitOf({ perMinute: 7 })).toBe(50)
  })

  it('a faulty limit of a request is named', () => {
    const { quota } = made()
    const consume = (limits: object) => () => quota.consumeSync({ subject: ann, operation: 'look', limits } as never)
    expect(consume({ perMinute: -1 })).toThrowError('limits.perMinute: expected a whole number of requests')
  })

  it('without a key, the limits of that layer don’t apply', async () => {
    const { quota } = made()
    const alone = { user: 'ann', team: null }
    expect(Object.keys(usedIn(quota.consumeSync({ subject: alone, operation: 'look' })))).not.toContain('budget')
    quota.consumeSync({ subject: ann, operation: 'look' })
    expect(usedIn(quota.statusSync(alone))).toMatchObject({ perMinute: 2 })
    await quota.subjects.set({ user: 'ann' }, { limits: { perMinute: 2 } })
    expect(quota.consumeSync({ subject: alone, operation: 'look' }).allowed).toBe(false)
    expect(() => quota.consumeSync({ subject: { user: null, team: null }, operation: 'look' })).toThrowError(
      'subject: expected a key for at least one of user, team',
    )
  })

  it('where all limits are shared, subjects have a layer of their own, whatever the names', () => {
    const quota = createQuota({ limits: { all: { shared: 'subject', limit: 2, per: '1m' } }, clock: testClock() })
    const take = (subject: string) => quota.consumeSync({ subject }).allowed
    expect([take('ann'), take('bob'), take('eve')]).toEqual([true, true, false])
    expect(quota.statusSync('ann').limits.all).toMatchObject({ shared: 'subject', used: 2 })
  })

  it('ids of a subject without the first key are its own', () => {
    const { quota } = made()
    const reserve = (user: string | null, team: string) =>
      quota.reserveSync({ subject: { user, team }, operation: 'look', id: 'a' }).status
    expect([reserve('x', 't'), reserve('x', 't'), reserve(null, 'x'), reserve(null, 'x')]).toEqual([
      ...['reserved', 'duplicate', 'reserved', 'duplicate'],
    ])
  })

  it('an overrun that fits is limited by every limit that counts the operation, by unit', async () => {
    const { quota } = made()
    const hold = await quota.reserve({ subject: ann, operation: 'late', ttlMs: 5_000 })
    if (hold.status !== 'reserved') throw new Error('refused')
    expect(await hold.commit({ tokens: 3_000 })).toMatchObject({
      charged: { tokens: 500 },
      uncharged: { tokens: 2_500 },
    })
    expect(usedIn(quota.statusSync(ann))).toMatchObject({ tokens: 500, writtenTokens: 500 })
  })

  it('a hold can be committed under a policy with more limits than at its reservation', async () => {
    const clock = testClock()
    const [store, settingsStore] = [memoryStore({ clock }), memorySettings()]
    const common = {
      clock,
      store,
      settingsStore,
      logger: false,
      operations: { save: { category: 'write' }, look: {} },
    } as const
    const perMinute = { by: 'user', limit: 9, per: '1m' } as const
    const before = createQuota({ ...common, limits: { perMinute } })
    const hold = before.reserveSync({ subject: 'ann', operation: 'save', ttlMs: 5_000, cost: 4 })
    const after = createQuota({ ...common, limits: { perMinute, writes: { ...perMinute, for: 'write' } } })
    const resumed = await after.resume((hold as { token: string }).token)
    expect(await resumed.commit(3)).toEqual({ charged: 3, uncharged: 0 })
    expect(usedIn(after.statusSync('ann'))).toEqual({ perMinute: 3, writes: 0 })
  })

  it('a limit that begins to count other operations keeps its counter', () => {
    const clock = testClock()
    const store = memoryStore({ clock })
    const engine = (counted?: 'write') =>
      createQuota({
        ...{ clock, store, logger: false, operations: { save: { category: 'write' }, look: { free: true } } },
        limits: { perMinute: { by: 'user', limit: 9, per: '1m', ...(counted && { for: counted }) } },
      } as never) as ReturnType<typeof made>['quota']
    engine().consumeSync({ subject: 'ann', operation: 'save' } as never)
    expect(usedIn(engine('write').statusSync('ann' as never))).toEqual({ perMinute: 1 })
  })

  it('reset() closes single limits', async () => {
    const { quota } = made()
    quota.consumeSync({ subject: ann, operation: 'save' })
    await quota.reset(ann, { limits: ['writes'] })
    expect(usedIn(quota.statusSync(ann))).toMatchObject({ perMinute: 1, writes: 0, writtenTokens: 100, service: 1 })
    await quota.reset(ann)
    expect(usedIn(quota.statusSync(ann))).toMatchObject({ perMinute: 0, writtenTokens: 0, service: 1 })
  })

  it('work takes a slot only if a limit counts it and its layer applies', async () => {
    const { quota } = made()
    const slots = async (subject: typeof ann | { user: string; team: null }) => {
      await quota.reserve({ subject, operation: 'chat' })
      return usedIn(quota.statusSync(ann)).atOnce
    }
    expect([await slots(ann), await slots({ user: 'ann', team: null })]).toEqual([1, 2])
    await quota.reserve({ subject: ann, operation: 'look', ttlMs: 1_000 })
    expect(usedIn(quota.statusSync(ann)).atOnce).toBe(2)
    expect(() => quota.consumeSync({ subject: ann, operation: 'chat' })).toThrowError(
      '"chat" has the concurrency limit "atOnce"',
    )
  })

  it('a row is one per layer and subject, whatever operations it counts', () => {
    const clock = testClock()
    const store = memoryStore({ clock })
    const { quota } = made({ clock, store })
    for (const operation of ['save', 'look', 'late'] as const) quota.consumeSync({ subject: ann, operation })
    expect(store.size).toBe(3)
  })

  it('a snapshot restores rows, holds and ids', async () => {
    const clock = testClock()
    const store = memoryStore({ clock })
    const { quota } = made({ clock, store })
    await quota.reserve({ subject: ann, operation: 'chat', id: 'a' })
    const copy = memoryStore({ clock })
    for (const part of store.snapshot()) copy.restore(JSON.parse(JSON.stringify(part)))
    const { quota: other } = made({ clock, store: copy })
    expect(other.statusSync(ann)).toEqual(quota.statusSync(ann))
    expect((await other.reserve({ subject: ann, operation: 'chat', id: 'a' })).status).toBe('duplicate')
  })

  it.each([
    [{ limits: { a: { by: 'u', limit: 1, per: '1 minute' } } }, 'got "1 minute"; write "1m"'],
    [{ limits: { a: { by: 'u', limit: 1, per: '1m', burts: 2 } } }, 'limits.a.burts: unknown key'],
    [{ limits: { a: { by: 'u', limit: 1, per: '1m', for: 'x' } } }, 'limits.a.for: not an operation or category: "x"'],
    [{ limits: { a: { limit: 1, per: '1m' } } }, 'limits.a.by: missing'],
    [{ limits: { a: { by: 'u', limit: 1, per: '1m', burst: 2 } } }, 'limits.a.burst: at most the limit, 1'],
    [
      { limits: { a: { by: 'u', limit: 1, per: '1m' }, b: { shared: 'u', limit: 1, per: '1m' } } },
      'is `by` in one limit',
    ],
    [{ limits: { a: { by: 'u', limit: 1, per: '1m' } }, plans: { p: { b: 1 } } }, 'plans.p.b: not a limit: "b"'],
    [
      { limits: { a: { shared: 'u', limit: 1, per: '1m' } }, plans: { p: { a: 1 } } },
      'plans.p.a: shared by all subjects',
    ],
    [{ limits: {} }, 'limits: expected 1 to 256 limits, got 0'],
  ])('faults are named: %#', (policy, message) => {
    expect(() => definePolicy(policy as never)).toThrowError(message)
  })
})
