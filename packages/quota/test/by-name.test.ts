import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { createQuota, definePolicy, memoryStore, money, parsePolicy } from '../src/index.ts'
import { testClock } from './support.ts'

const usd = money('USD')

describe('the example of the documentation', () => {
  const quota = createQuota({
    clock: testClock(),
    logger: false,
    limits: {
      perMinute: { by: 'user', limit: 20, per: '1m' },
      tokens: { by: 'user', limit: 100_000, of: 'tokens', per: '1h' },
      budget: { by: 'team', limit: usd(100), of: usd, every: 'month', timeZone: 'UTC' },
      atOnce: { by: 'user', concurrency: 3, for: 'chat' },
      writes: { by: 'user', limit: 30, per: '1m', for: 'write' },
      service: { shared: 'service', limit: 900, per: '1m' },
    },
    operations: { chat: { cost: { tokens: 2_000, usd: usd(0.009) } }, save: { category: 'write' }, look: {} },
    plans: { 'cloud:pro': { perMinute: 200, tokens: 1_000_000 }, trial: { budget: usd(0) } },
    calendar: luxonCalendar(),
  })
  const subject = { user: 'ann', team: 'blue' }

  it('decides, runs, and takes settings', async () => {
    for (let i = 0; i < 60; i++) await quota.consume({ subject, operation: 'look', limits: { perMinute: 60 } })
    const decision = await quota.consume({ subject, operation: 'look', limits: { perMinute: 60 } })
    expect(decision).toMatchObject({ allowed: false, refusedBy: { name: 'perMinute' }, retryAfterSeconds: 60 })
    const ran = await quota.run({ subject: { user: 'bob', team: 'blue' }, operation: 'chat' }, async (reservation) =>
      reservation.commit({ tokens: 812 }),
    )
    expect(ran).toMatchObject({ allowed: true, value: { charged: { requests: 1, tokens: 812, usd: 9_000 } } })
    await quota.subjects.set({ user: 'ann' }, { limits: { perMinute: 50 } })
    await quota.settings.update({ limits: { service: 2_000 }, shadow: { tokens: true } })
    expect(quota.statusSync(subject).limits).toMatchObject({
      perMinute: { by: 'user', limit: 50, used: 60, from: 'subject' },
      tokens: { enforced: false },
      budget: { by: 'team', limit: 100_000_000, used: 9_000, unit: 'usd' },
      service: { shared: 'service', limit: 2_000, used: 61 },
    })
  })

  it('a trial has no budget', async () => {
    const refused = await quota.reserve({ subject: { user: 'eve', team: 'red' }, operation: 'chat', plan: 'trial' })
    expect(refused).toMatchObject({ status: 'refused', decision: { refusedBy: { name: 'budget' }, retryable: false } })
  })
})

describe('one limit', () => {
  const limits = { api: { by: 'user', limit: 100, per: '15m' } } as const

  it('is the same form with one name, and requests needn’t name the operation', async () => {
    const clock = testClock()
    const quota = createQuota({ clock, limits })
    expect(quota.consumeSync({ subject: 'ann', cost: 94 })).toMatchObject({ allowed: true, operation: 'request' })
    expect(quota.consumeSync({ subject: 'ann', operation: 'request' }).allowed).toBe(true)
    expect(quota.reserveSync({ subject: 'ann', id: 'a' }).status).toBe('reserved')
    expect((await quota.reserve({ subject: 'ann', id: 'a' })).status).toBe('duplicate')
    expect(await quota.run({ subject: 'ann' }, () => 'done')).toMatchObject({ allowed: true, value: 'done' })
    expect((await quota.consume({ subject: 'ann', cost: 3 })).allowed).toBe(true)
    expect(await quota.consume({ subject: 'ann' })).toMatchObject({ allowed: false, retryAfterSeconds: 900 })
    expect(quota.statusSync('ann').limits.api).toMatchObject({ limit: 100, used: 100, lengthMs: 900_000 })
    expect(quota.consumeSync({ subject: 'bob' }).allowed).toBe(true)
    clock.at += 899_999
    expect(quota.peekSync({ subject: 'ann' }).allowed).toBe(false)
    clock.at += 1
    expect(quota.peekSync({ subject: 'ann' }).allowed).toBe(true)
  })

  it('has a failure policy for the operation `request`', async () => {
    const store = memoryStore({ clock: { now: () => Number.NaN } })
    const open = createQuota({ limits, store, failurePolicy: { request: 'open' }, logger: false })
    expect(await open.consume({ subject: 'ann' })).toMatchObject({ allowed: true, source: 'fallback' })
    const closed = createQuota({ limits, store, logger: false })
    await expect(closed.consume({ subject: 'ann' })).rejects.toMatchObject({ code: 'quota_unavailable' })
  })

  it('a policy as a value has the same members', () => {
    const policy = definePolicy({ limits, plans: { pro: { api: 200 } } })
    expect(policy).toEqual(parsePolicy({ limits, plans: { pro: { api: 200 } } }))
    const quota = createQuota({ policy, clock: testClock() })
    expect(quota.statusSync('ann', { plan: 'pro' }).limits.api?.limit).toBe(200)
  })
})

describe('parsePolicy', () => {
  const document = {
    limits: {
      budget: { by: 'team', limit: { USD: '100.00' }, of: 'usd', per: '30d' },
      perMinute: { by: 'user', limit: 20, per: '1m' },
    },
    operations: { chat: { cost: { usd: { USD: '0.009' } } }, look: {} },
    plans: { trial: { budget: { USD: '0.00' } } },
  }

  it('reads a policy from JSON, money included, as definePolicy() makes it', () => {
    const policy = parsePolicy(JSON.parse(JSON.stringify(document)))
    expect(policy).toMatchObject({
      units: ['requests', { name: 'usd', format: { currency: 'USD', scale: 6 } }],
      limits: [
        { name: 'budget', limit: 100_000_000, unit: 'usd' },
        { name: 'perMinute', limit: 20 },
      ],
      operations: { chat: { cost: { usd: 9_000 } } },
      plans: { trial: { budget: 0 } },
    })
    const quota = createQuota({ policy, logger: false })
    expect(quota.consumeSync({ subject: { user: 'a', team: 'b' }, operation: 'chat' }).allowed).toBe(true)
  })

  it.each([
    [undefined, 'expected an object'],
    [{ limits: { a: { by: 'u', limit: { USD: '1.2345678' }, of: 'usd', per: '1d' } } }, 'limits.a.limit'],
    [
      { limits: { a: { by: 'u', limit: { EUR: '1.00' }, of: { money: 'USD' }, per: '1d' } } },
      'limits.a.limit: expected',
    ],
  ])('names what is wrong: %#', (value, message) => {
    expect(() => parsePolicy(value)).toThrowError(message)
  })
})
