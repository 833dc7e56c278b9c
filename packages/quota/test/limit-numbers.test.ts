import { describe, expect, it } from 'vitest'
import {
  createQuota,
  definePolicy,
  memorySettings,
  memoryStore,
  money,
  parsePolicy,
  type QuotaLogger,
  type RefusedDecision,
} from '../src/index.ts'
import type { AsyncSettingsStore } from '../src/store.ts'
import { testClock } from './support.ts'

const usd = money('USD')

function logged() {
  const warnings: string[] = []
  const logger: QuotaLogger = { warn: (message) => void warnings.push(String(message)), error: () => undefined }
  return { warnings, logger }
}

describe('the number in force', () => {
  const made = (more: object = {}) =>
    createQuota({
      clock: testClock(),
      logger: false,
      limits: {
        perMinute: { by: 'user', limit: 20, per: '1m' },
        perDay: { by: 'team', limit: 1_000, per: '1d' },
        service: { shared: 'service', limit: 900, per: '1m' },
      },
      plans: { pro: { perMinute: 200, perDay: 'unlimited' }, trial: { perMinute: 5 } },
      ...more,
    })
  const subject = { user: 'ann', team: 'blue' }
  const numbers = (quota: ReturnType<typeof made>, more: object = {}) => {
    const { limits } = quota.peekSync({ subject, ...more })
    return Object.values(limits).map((limit) => [limit?.name, limit?.limit, limit?.from])
  }

  it('is the base, a plan’s, the request’s or the subject’s, and says so', async () => {
    const quota = made()
    const service = ['service', 900, 'base']
    expect(numbers(quota)).toEqual([['perMinute', 20, 'base'], ['perDay', 1_000, 'base'], service])
    expect(numbers(quota, { plan: 'pro' })).toEqual([
      ['perMinute', 200, 'plan'],
      ['perDay', 'unlimited', 'plan'],
      service,
    ])
    const limits = { perMinute: 60, perDay: null }
    expect(numbers(quota, { plan: 'pro', limits })[0]).toEqual(['perMinute', 60, 'request'])
    expect(numbers(quota, { plan: 'pro', limits })[1]).toEqual(['perDay', 'unlimited', 'plan'])
    await quota.subjects.set({ user: 'ann' }, { limits: { perMinute: 50 } })
    expect(numbers(quota, { limits })[0]).toEqual(['perMinute', 50, 'subject'])
    await quota.settings.update({ mode: 'custom', custom: { service: 7 } })
    expect(numbers(quota)[2]).toEqual(['service', 7, 'custom'])
  })

  it('modes and the multiplier scale plans and bases only', async () => {
    const quota = made()
    await quota.settings.update({ mode: 'lenient', shared: { service: { multiplier: 2 } } })
    expect(numbers(quota, { plan: 'trial', limits: { perDay: 10 } })).toEqual([
      ['perMinute', 7, 'plan'],
      ['perDay', 10, 'request'],
      ['service', 2_700, 'base'],
    ])
  })

  it('each limit has the plan of its own subject, or all that of `planOf`', async () => {
    const quota = made()
    await quota.subjects.set({ team: 'blue' }, { plan: 'pro' })
    expect(numbers(quota).map(([, number]) => number)).toEqual([20, 'unlimited', 900])
    const ofTeams = made({ planOf: 'team' })
    await ofTeams.subjects.set({ team: 'blue' }, { plan: 'pro' })
    await ofTeams.subjects.set({ user: 'ann' }, { plan: 'trial' })
    expect(numbers(ofTeams).map(([, number]) => number)).toEqual([200, 'unlimited', 900])
    expect(numbers(ofTeams, { plan: 'trial' }).map(([, number]) => number)).toEqual([200, 'unlimited', 900])
  })

  it('raising the number of a request from 5 to 6 admits one more', () => {
    const quota = made()
    const admitted = (perMinute: number) =>
      Array.from({ length: 20 }, () => quota.consumeSync({ subject, limits: { perMinute } }).allowed).filter(Boolean)
    expect([admitted(5).length, admitted(6).length, admitted(6).length]).toEqual([5, 1, 0])
  })

  it('a name that the policy doesn’t have for subjects is ignored, with one warning', () => {
    const { warnings, logger } = logged()
    const quota = made({ logger })
    for (let i = 0; i < 3; i++) {
      expect(numbers(quota, { limits: { perMinut: 3, service: 1 } }).map(([, number]) => number)).toEqual([
        20, 1_000, 900,
      ])
    }
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('unknown_limit: a request has a number for "perMinut"; did you mean "perMinute"?')
  })
})

describe('buckets', () => {
  const burst = { by: 'user', limit: 600, per: '1m', burst: 50 } as const
  const shown = (quota: { peekSync: (request: object) => object }, limits?: object) =>
    quota.peekSync({ subject: 'ann', limits }) as { limits: { calls: { limit: number; burst: number } } }

  it('a plain number keeps the share of the burst; a pair has a burst of its own', async () => {
    const quota = createQuota({
      clock: testClock(),
      logger: false,
      limits: { calls: burst },
      plans: { pro: { calls: 1_200 }, calm: { calls: { limit: 600, burst: 10 } } },
    })
    const of = (limits?: object, plan?: string) => {
      const { limit, burst: most } = shown({ peekSync: (r) => quota.peekSync({ ...r, plan } as never) }, limits).limits
        .calls
      return [limit, most]
    }
    expect(of()).toEqual([600, 50])
    // A share of less than one token is one.
    expect(of({ calls: 5 })).toEqual([5, 1])
    expect([of({ calls: 60 }), of({ calls: { limit: 60, burst: 30 } })]).toEqual([
      [60, 5],
      [60, 30],
    ])
    expect([of(undefined, 'pro'), of(undefined, 'calm')]).toEqual([
      [1_200, 100],
      [600, 10],
    ])
    await quota.subjects.set('ann', { limits: { calls: { limit: 30, burst: 3 } } })
    expect(of({ calls: 60 })).toEqual([30, 3])
    expect((await quota.subjects.get('ann')).limits).toEqual({ calls: { limit: 30, burst: 3 } })
  })

  it('a burst above the limit is a fault', () => {
    const quota = createQuota({ logger: false, limits: { calls: burst } })
    expect(() => shown(quota as never, { calls: { limit: 5, burst: 9 } })).toThrowError(
      'limits.calls: expected a whole number of requests from 0 to 1000000000000000, { limit, burst }',
    )
  })
})

describe('blocked subjects', () => {
  it('everything of theirs is refused until the block ends', async () => {
    const clock = testClock()
    const quota = createQuota({
      clock,
      logger: false,
      limits: { perMinute: { by: 'user', limit: 20, per: '1m' }, service: { shared: 'service', limit: 9, per: '1m' } },
      operations: { look: {}, health: { free: true } },
    })
    const seen: string[] = []
    quota.on('refused', ({ source, refusedBy }) => void seen.push(`${source} ${refusedBy.name}`))
    await quota.subjects.set('ann', { blocked: true, until: { blocked: clock.now() + 30_000 } })
    for (const operation of ['look', 'health'] as const) {
      expect(quota.consumeSync({ subject: 'ann', operation })).toMatchObject({
        ...{ allowed: false, source: 'blocked', retryable: true, retryAfterSeconds: 30 },
        refusedBy: { name: 'perMinute', by: 'user', limit: 0, used: 0 },
      })
    }
    expect(seen).toEqual(['blocked perMinute', 'blocked perMinute'])
    expect((await quota.reserve({ subject: 'ann', operation: 'look' })).status).toBe('refused')
    expect((await quota.peek({ subject: 'ann', operation: 'health' })).allowed).toBe(false)
    expect(quota.consumeSync({ subject: 'bob', operation: 'look' }).allowed).toBe(true)
    clock.at += 30_000
    expect(quota.consumeSync({ subject: 'ann', operation: 'look' }).allowed).toBe(true)
  })

  it.each(['look', 'health'] as const)(
    'a block in a settings store that answers later refuses %s',
    async (operation) => {
      const inner = memorySettings()
      const settingsStore: AsyncSettingsStore = {
        sync: false,
        isMarked: false,
        read: async () => inner.read(),
        write: async (document, options) => inner.write(document, options),
        readSubject: async (layer, key) => inner.readSubject(layer, key),
        writeSubject: async (layer, key, document, options) => inner.writeSubject(layer, key, document, options),
        watch: (listener) => inner.watch(listener),
      }
      const quota = createQuota({
        settingsStore,
        logger: false,
        limits: { perMinute: { by: 'user', limit: 20, per: '1m' } },
        operations: { look: {}, health: { free: true } },
      })
      await quota.subjects.set('ann', { blocked: true })
      expect((await quota.consume({ subject: 'ann', operation })).source).toBe('blocked')
      expect((await quota.consume({ subject: 'bob', operation })).allowed).toBe(true)
    },
  )

  it.each([
    ['hourly', 'daily'],
    ['daily', 'hourly'],
  ])('limits that don’t count a refused operation are in the policy’s order, %s first', async (...names) => {
    const lengths = { hourly: '1h', daily: '1d' } as const
    const limits = names.map((name) => [
      name,
      { by: 'user', limit: 9, per: lengths[name as keyof typeof lengths], for: 'look' },
    ])
    const policy = parsePolicy({ limits: Object.fromEntries(limits), operations: { look: {}, health: { free: true } } })
    const quota = createQuota({ policy, logger: false })
    await quota.subjects.set('ann', { blocked: true })
    const { refusals } = quota.consumeSync({ subject: 'ann', operation: 'health' }) as RefusedDecision
    expect(refusals.map(({ name }) => name)).toEqual(names)
  })

  it('a block without an end can’t be waited for', async () => {
    const quota = createQuota({ logger: false, limits: { perMinute: { by: 'user', limit: 20, per: '1m' } } })
    await quota.subjects.set('ann', { blocked: true })
    expect(quota.consumeSync({ subject: 'ann' })).toMatchObject({
      ...{ allowed: false, retryable: false, retryAfterSeconds: null, retryAfterMs: null },
    })
    await quota.subjects.update('ann', { blocked: false })
    expect(quota.consumeSync({ subject: 'ann' }).allowed).toBe(true)
  })
})

describe('a renamed limit', () => {
  it('goes on with its counter and its stored numbers', async () => {
    const clock = testClock()
    const [store, settingsStore] = [memoryStore({ clock }), memorySettings()]
    const common = { clock, store, settingsStore, logger: false } as const
    const before = createQuota({ ...common, limits: { minute: { by: 'user', limit: 20, per: '1m' } } })
    await before.settings.update({ limits: { minute: 30 } })
    await before.subjects.set('bob', { limits: { minute: 3 } })
    before.consumeSync({ subject: 'ann', cost: 7 })
    const after = createQuota({
      ...common,
      limits: { perMinute: { by: 'user', limit: 20, per: '1m', formerly: 'minute' } },
    })
    expect(after.statusSync('ann').limits.perMinute).toMatchObject({ limit: 30, used: 7, from: 'base' })
    expect(after.statusSync('bob').limits.perMinute).toMatchObject({ limit: 3, from: 'subject' })
    await after.subjects.update('bob', { limits: { perMinute: null } })
    expect(after.statusSync('bob').limits.perMinute).toMatchObject({ limit: 30, from: 'base' })
    expect(await after.settings.faults()).toEqual([])
  })
})

describe('shadowed limits', () => {
  it('are declared in the policy, and switched by the settings', async () => {
    const quota = createQuota({
      logger: false,
      limits: { perMinute: { by: 'user', limit: 1, per: '1m', shadow: true } },
    })
    expect(quota.statusSync('ann').limits.perMinute?.enforced).toBe(false)
    quota.consumeSync({ subject: 'ann' })
    expect(quota.consumeSync({ subject: 'ann' })).toMatchObject({ allowed: true, shadowed: [{ name: 'perMinute' }] })
    await quota.settings.update({ shadow: { perMinute: false } })
    expect(quota.consumeSync({ subject: 'ann' }).allowed).toBe(false)
    await quota.settings.update({ shadow: { perMinute: null } })
    expect(quota.consumeSync({ subject: 'ann' }).allowed).toBe(true)
  })
})

describe('money', () => {
  const quota = () =>
    createQuota({
      clock: testClock(),
      logger: false,
      limits: { budget: { by: 'user', limit: usd(1), of: usd, per: '1d' } },
      operations: { chat: { cost: { requests: 0, usd: usd(0.1) } } },
      plans: { pro: { budget: usd(5) } },
    })

  it('is exact, carries its unit, and is JSON', () => {
    expect(usd(0.1 + 0.2)).toEqual(usd(0.3))
    expect(usd(1) < usd(2)).toBe(true)
    expect(usd.millionths(9_000)).toEqual(usd(0.009))
    expect(JSON.stringify([usd(20), usd(0.009)])).toBe('[{"USD":"20.00"},{"USD":"0.009"}]')
    for (const amount of [Number.NaN, -1, 1e10, '1'])
      expect(() => usd(amount as number)).toThrowError('expected an amount')
    expect(() => money('dollar' as 'USD')).toThrowError('money(): expected a currency like "USD"')
  })

  it('is charged, and limits of requests, plans and subjects take it', async () => {
    const engine = quota()
    const decision = engine.consumeSync({ subject: 'ann', cost: { usd: usd(0.25) } })
    expect(decision).toMatchObject({ cost: { requests: 0, usd: 250_000 }, limits: { budget: { used: 250_000 } } })
    const limitOf = (request: object) => engine.peekSync({ subject: 'ann', ...request }).limits.budget?.limit
    expect([limitOf({ plan: 'pro' }), limitOf({ limits: { budget: usd(2) } })]).toEqual([5_000_000, 2_000_000])
    await engine.subjects.set('ann', { limits: { budget: usd(3) } })
    await engine.settings.update({ limits: { budget: usd(4) } })
    expect([limitOf({}), (await engine.settings.get()).limits.budget]).toEqual([3_000_000, 4_000_000])
  })

  it('plain numbers and other currencies are refused', () => {
    const eur = money('EUR')
    const consume = (cost: unknown) => () => quota().consumeSync({ subject: 'ann', cost } as never)
    expect(consume({ usd: 1 })).toThrowError(
      'cost.usd: expected an amount of money, such as usd(1) of money("USD"), got 1',
    )
    expect(consume({ usd: eur(1) })).toThrowError('cost.usd: expected an amount of money')
    const define = (limit: object) => () => definePolicy({ limits: { a: { by: 'u', per: '1m', ...limit } } } as never)
    expect(define({ limit: 100, of: usd })).toThrowError('limits.a.limit: expected an amount of money, such as usd(1)')
    expect(define({ limit: usd(1), of: 'tokens' })).toThrowError('limits.a.limit: expected a whole number of tokens')
  })
})

describe('names and texts', () => {
  it('titles of limits and layers are for people', () => {
    const quota = createQuota({
      logger: false,
      titles: { user: 'Personal' },
      limits: {
        'api/auth.email:1': { by: 'user', limit: 1, per: '250ms' },
        other: { by: 'user', limit: 1, per: '1m', title: 'Mails' },
      },
    })
    const { limits } = quota.statusSync('ann')
    expect(Object.values(limits).map((limit) => limit?.title)).toEqual(['Personal', 'Mails'])
    expect(limits['api/auth.email:1']?.lengthMs).toBe(250)
  })

  it('a window of 250 ms ends after 250 ms', () => {
    const clock = testClock()
    const quota = createQuota({ clock, logger: false, limits: { fast: { by: 'user', limit: 1, per: '250ms' } } })
    const take = () => quota.consumeSync({ subject: 'ann' }).allowed
    expect([take(), take()]).toEqual([true, false])
    clock.at += 249
    expect(take()).toBe(false)
    clock.at += 1
    expect(take()).toBe(true)
  })

  it.each([
    [{ a: { by: 'u', limit: 1, per: 60_000 } }, 'got 60000; write "1m"'],
    [{ a: { by: 'u', limit: 1, per: '2 weeks' } }, 'write "14d"'],
    [{ a: { by: 'u', limit: 1, per: '0s' } }, 'limits.a.per: expected a text like "250ms"'],
    [{ a: { by: 'u', limit: 1 } }, 'limits.a.per: missing; expected a text like'],
    [{ a: { by: 'u', limit: 1, per: '1m', every: 'day', timeZone: 'UTC' } }, 'limits.a.every: a limit has one time'],
    [{ a: { by: ['u', 'm'], limit: 1, per: '1m' } }, 'limits.a.by: several keys in one limit are not supported'],
    [{ a: { by: 'u', shared: 's', limit: 1, per: '1m' } }, 'limits.a.by: not with `shared`'],
    [{ a: { by: 'u:v', limit: 1, per: '1m' } }, 'limits.a.by: expected whose limit it is'],
    [{ 'a b': { by: 'u', limit: 1, per: '1m' } }, "limits.a b: expected a limit's name of 1 to 64"],
    [{ a: { by: 'u', concurrency: 1, limit: 1 } }, 'limits.a.limit: not with concurrency'],
    [
      { a: { by: 'u', limit: 1, per: '1m' }, b: { by: 'u', limit: 2, per: '1m', formerly: 'a' } },
      'limits.b: has the same counter as limits.a',
    ],
  ])('faults of limits are named at their place: %#', (limits, message) => {
    expect(() => definePolicy({ limits } as never)).toThrowError(message)
  })

  const one = { a: { by: 'u', limit: 1, per: '1m' } }
  it.each([
    [
      { limits: { a: { by: 'u', limit: 1, per: '1m', for: 'x' } }, operations: { x: {}, y: {} } },
      'operations.y: no limit',
    ],
    [{ limits: one, operations: { x: { cost: 0 } } }, 'operations.x: costs 0 of what its limits count, requests'],
    [{ limits: one, operations: { x: { category: 'y' }, y: {} } }, 'operations.y: "y" is also a category'],
    [
      { limits: { a: { by: 'u', concurrency: 1 } }, operations: { x: {}, y: {} } },
      'limits.a.for: missing; expected the op',
    ],
    [{ limits: one, titles: { v: 'V' } }, 'titles.v: no limit is by or shared "v"'],
    [{ limits: one, planOf: 'v' }, 'planOf: no limit is by "v"'],
  ])('faults between names are named: %#', (policy, message) => {
    expect(() => definePolicy(policy as never)).toThrowError(message)
  })
})
