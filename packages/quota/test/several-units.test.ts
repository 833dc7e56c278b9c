import { describe, expect, it } from 'vitest'
import { quotaExceededBody, quotaStatusBody, rateLimitHeaders } from '../src/http.ts'
import { createQuota, memorySettings, memoryStore } from '../src/index.ts'
import { placedLimits } from '../src/policy/cells.ts'
import { topSubjects } from '../src/top.ts'
import { asyncStore, testClock } from './support.ts'
import { SUBJECT, spent, unitsPolicy, usd } from './units-policy.ts'

const MINUTE = 60_000

function made() {
  const clock = testClock()
  const store = memoryStore({ clock })
  return { clock, store, quota: createQuota({ policy: unitsPolicy, clock, store, thresholds: [] }) }
}

type Made = ReturnType<typeof made>['quota']

/** The limits of a layer, in the policy's order. */
function limitsOf(quota: Made, layer = 'user') {
  return Object.values(quota.statusSync(SUBJECT).limits).filter(({ by, shared }) => (by ?? shared) === layer)
}

/** How much of each limit of a layer is used. */
function used(quota: Made, layer = 'user'): readonly number[] {
  return limitsOf(quota, layer).map((each) => each.used)
}

describe('a decision over several units', () => {
  it('a decision costs its price as a record and charges each window its own unit', () => {
    const { quota } = made()
    const decision = quota.consumeSync({ subject: SUBJECT, operation: 'complete' })
    expect(decision).toMatchObject({ allowed: true, cost: { requests: 1, tokens: 2_000, usd: 9_000 } })
    expect({ ...decision }.cost).toEqual({ requests: 1, tokens: 2_000, usd: 9_000 })
    expect(used(quota)).toEqual([1, 2_000, 9_000, 0])
    expect(used(quota, 'service')).toEqual([1, 2_000, 9_000])
    expect(
      Object.values(decision.limits)
        .map(({ name, unit }) => `${name} ${unit}`)
        .slice(0, 4),
    ).toEqual([...['user-1m requests', 'user-tokens tokens', 'user-budget usd', 'team-1m requests']])
  })

  it('units that a cost omits come from the price', () => {
    const { quota } = made()
    const asked = { subject: SUBJECT, operation: 'complete', cost: { tokens: 4_000 } } as const
    expect(quota.consumeSync(asked).cost).toEqual({ requests: 1, tokens: 4_000, usd: 9_000 })
    const unpriced = { subject: SUBJECT, operation: 'list', cost: { usd: usd.millionths(5) } } as const
    expect(quota.consumeSync(unpriced).cost).toEqual({ requests: 1, tokens: 0, usd: 5 })
    expect(used(quota)).toEqual([2, 4_000, 9_005, 0])
  })

  it('a decision charges all units or none, and a refusal is free', () => {
    const { quota } = made()
    const tooMany = { subject: SUBJECT, operation: 'complete', cost: { tokens: 10_001 } } as const
    const refused = quota.consumeSync(tooMany)
    expect(refused).toMatchObject({
      allowed: false,
      refusedBy: { name: 'user-tokens', by: 'user', unit: 'tokens', requested: 10_001, retryable: false },
    })
    expect([used(quota), used(quota, 'team'), used(quota, 'service')]).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
    ])
  })

  it.each([
    ['requests', { requests: 6 }, 'user-1m'],
    ['tokens', { tokens: 10_001 }, 'user-tokens'],
    ['usd', { usd: usd.millionths(50_001) }, 'user-budget'],
  ] as const)('the limit of %s is checked separately', (unit, cost, name) => {
    const { quota } = made()
    const refused = quota.consumeSync({ subject: SUBJECT, operation: 'list', cost })
    expect(refused).toMatchObject({ allowed: false, refusals: [{ name, by: 'user', unit }] })
  })

  it('windows of units that cost nothing stay unopened and don’t refuse', () => {
    const { quota } = made()
    quota.consumeSync({ subject: SUBJECT, operation: 'list', cost: { tokens: 10_000 } })
    expect(quota.consumeSync({ subject: SUBJECT, operation: 'list' }).allowed).toBe(true)
    expect(quota.statusSync(SUBJECT).limits['user-budget']?.startedAt).toBeNull()
  })

  it('a decision is free if every unit is 0', () => {
    const { quota } = made()
    const decision = quota.consumeSync({ subject: SUBJECT, operation: 'list', cost: { requests: 0 } })
    expect(decision).toMatchObject({ source: 'free', cost: { requests: 0, tokens: 0, usd: 0 } })
    expect(used(quota)).toEqual([0, 0, 0, 0])
  })

  it('the binding limit is one that can never admit, else the one that ends last, with its retry time', () => {
    const { quota, clock } = made()
    quota.consumeSync({ subject: SUBJECT, operation: 'list', cost: { requests: 5, ...spent(10_000, 50_000) } })
    const later = quota.consumeSync({ subject: SUBJECT, operation: 'complete' })
    expect(later).toMatchObject({
      refusedBy: { name: 'user-budget', unit: 'usd' },
      retryAfterMs: 30 * 24 * 60 * MINUTE,
    })
    const never = { subject: SUBJECT, operation: 'complete', cost: { tokens: 20_000 } } as const
    expect(quota.consumeSync(never)).toMatchObject({ refusedBy: { name: 'user-tokens', retryable: false } })
    clock.at += MINUTE
    expect(quota.consumeSync({ subject: SUBJECT, operation: 'list' }).allowed).toBe(true)
  })

  it('an asynchronous store gives the same decision over several units', async () => {
    const clock = testClock()
    const quota = createQuota({ policy: unitsPolicy, clock, store: asyncStore(memoryStore({ clock })) })
    expect(await quota.consume({ subject: SUBJECT, operation: 'complete' })).toMatchObject({
      allowed: true,
      cost: { requests: 1, tokens: 2_000, usd: 9_000 },
    })
    const peeked = await quota.peek({ subject: SUBJECT, operation: 'complete', cost: { tokens: 8_001 } })
    expect(peeked).toMatchObject({ allowed: false, refusedBy: { name: 'user-tokens', used: 2_000 } })
  })

  it('counters are kept when the policy lists its units in another order', () => {
    const { quota, store, clock } = made()
    quota.consumeSync({ subject: SUBJECT, operation: 'complete' })
    const units = [...unitsPolicy.units].reverse()
    const other = createQuota({ policy: { ...unitsPolicy, units }, clock, store, logger: false })
    expect(used(other)).toEqual([1, 2_000, 9_000, 0])
    expect(placedLimits(unitsPolicy).schema.layers[0]!.cells.map(({ identity }) => identity)).toEqual([
      'rolling user-1m 60000 unit:requests',
      'rolling user-tokens 60000',
      'rolling user-budget 2592000000 unit:usd',
      'concurrency user-running',
    ])
  })
})

describe('a reservation over several units', () => {
  it('a commit gives back the rest of each unit', async () => {
    const { quota } = made()
    const reserved = quota.reserveSync({ subject: SUBJECT, operation: 'complete', cost: { tokens: 4_000 } })
    if (reserved.status !== 'reserved') throw new Error(reserved.status)
    expect(reserved.commit(spent(812, 3_100))).toEqual({
      charged: { requests: 1, tokens: 812, usd: 3_100 },
      uncharged: { requests: 0, tokens: 0, usd: 0 },
    })
    expect(used(quota)).toEqual([1, 812, 3_100, 0])
    expect(used(quota, 'team')).toEqual([1, 812, 3_100])
  })

  it('a cancel gives back every unit', () => {
    const { quota } = made()
    const reserved = quota.reserveSync({ subject: SUBJECT, operation: 'complete' })
    if (reserved.status !== 'reserved') throw new Error(reserved.status)
    reserved.cancel()
    expect(used(quota)).toEqual([0, 0, 0, 0])
  })

  it('a commit above the reservation in any unit is rejected with the unit’s name', () => {
    const { quota } = made()
    const reserved = quota.reserveSync({ subject: SUBJECT, operation: 'complete' })
    if (reserved.status !== 'reserved') throw new Error(reserved.status)
    expect(() => reserved.commit({ usd: usd.millionths(9_001) })).toThrow(/can't commit 9001 usd, only 9000 reserved/)
    expect(reserved.commit({ usd: usd.millionths(9_000) }).charged).toEqual({ requests: 1, tokens: 2_000, usd: 9_000 })
  })

  it('an id is compared by the given costs', () => {
    const { quota } = made()
    const asked = { subject: SUBJECT, operation: 'complete', id: 'a' } as const
    quota.reserveSync({ ...asked, cost: spent(3, 4) })
    expect(quota.reserveSync({ ...asked, cost: { usd: usd.millionths(4), tokens: 3 } }).status).toBe('duplicate')
    expect(() => quota.reserveSync({ ...asked, cost: { tokens: 3 } })).toThrow(/another operation or cost/)
    expect(() => quota.reserveSync(asked)).toThrow(/another operation or cost/)
    const duplicate = quota.reserveSync({ ...asked, cost: spent(3, 4) })
    expect(duplicate.commit()).toEqual({
      charged: { requests: 0, tokens: 0, usd: 0 },
      uncharged: { requests: 0, tokens: 0, usd: 0 },
    })
  })
})

describe('a hold over several units', () => {
  it('a hold over several units is listed by unit, grows by unit and comes back at its end', async () => {
    const { quota, clock } = made()
    const ended: unknown[] = []
    quota.on('holdEnded', (end) => ended.push(end.cost))
    const hold = quota.reserveSync({ subject: SUBJECT, operation: 'complete', ttlMs: MINUTE / 2 })
    if (hold.status !== 'reserved') throw new Error(hold.status)
    expect(hold.add({ tokens: 500 }).cost).toEqual({ requests: 0, tokens: 500, usd: 0 })
    expect(used(quota)).toEqual([1, 2_500, 9_000, 0])
    const [listed] = await quota.holds.list(SUBJECT)
    expect(listed).toMatchObject({ cost: { requests: 1, tokens: 2_500, usd: 9_000 }, slot: false })
    expect(listed).not.toHaveProperty('tokens')
    expect(limitsOf(quota).map((each) => each.held)).toEqual([1, 2_500, 9_000, undefined])
    clock.at += MINUTE / 2
    expect((await quota.holds.sweep()).open).toBe(0)
    expect(ended).toEqual([{ requests: 1, tokens: 2_500, usd: 9_000 }])
    expect(used(quota)).toEqual([0, 0, 0, 0])
    await quota.close()
  })

  it('a commit charges units that its record omits in full, including growth elsewhere', async () => {
    const { quota } = made()
    const hold = quota.reserveSync({ subject: SUBJECT, operation: 'complete', ttlMs: MINUTE })
    if (hold.status !== 'reserved') throw new Error(hold.status)
    const elsewhere = await quota.resume(hold.token!)
    await elsewhere.add({ usd: usd.millionths(1_000) })
    expect(hold.commit({ tokens: 1 })).toEqual({
      charged: { requests: 1, tokens: 1, usd: 10_000 },
      uncharged: { requests: 0, tokens: 0, usd: 0 },
    })
    expect(used(quota)).toEqual([1, 1, 10_000, 0])
  })

  it('a commit charges an overrun by unit up to its bound and reports it', () => {
    const { quota } = made()
    const overruns: unknown[] = []
    quota.on('overrun', ({ charged, uncharged, reserved }) => overruns.push({ charged, uncharged, reserved }))
    const hold = quota.reserveSync({ subject: SUBJECT, operation: 'late', ttlMs: MINUTE })
    if (hold.status !== 'reserved') throw new Error(hold.status)
    const result = hold.commit(spent(7_000, 2_000))
    expect(result).toEqual({
      charged: { requests: 1, tokens: 6_000, usd: 2_000 },
      uncharged: { requests: 0, tokens: 1_000, usd: 0 },
    })
    expect(overruns).toEqual([{ ...result, reserved: { requests: 1, tokens: 1_000, usd: 3_000 } }])
    expect(used(quota)).toEqual([1, 6_000, 2_000, 0])
  })

  it('a commit after the hold’s end is charged by unit', () => {
    const { quota, clock } = made()
    const hold = quota.reserveSync({ subject: SUBJECT, operation: 'late', ttlMs: 1_000 })
    if (hold.status !== 'reserved') throw new Error(hold.status)
    clock.at += 2_000
    expect(used(quota)).toEqual([0, 0, 0, 0])
    expect(hold.commit(spent(800, 2_500)).charged).toEqual({ requests: 1, tokens: 800, usd: 2_500 })
    expect(used(quota)).toEqual([1, 800, 2_500, 0])
  })

  it('each unit of a hold is fitted separately', () => {
    const { quota } = made()
    const hold = quota.reserveSync({ subject: SUBJECT, operation: 'fitted', ttlMs: MINUTE })
    if (hold.status !== 'reserved') throw new Error(hold.status)
    expect(hold.commit(spent(12_000, 7_000))).toEqual({
      charged: { requests: 1, tokens: 10_000, usd: 7_000 },
      uncharged: { requests: 0, tokens: 2_000, usd: 0 },
    })
  })

  it('a hold over several units takes a slot and frees it', () => {
    const { quota } = made()
    const holds = [1, 2].map(() => quota.reserveSync({ subject: SUBJECT, operation: 'agent' }))
    expect(used(quota)).toEqual([2, 2_000, 0, 2])
    const refused = quota.reserveSync({ subject: SUBJECT, operation: 'agent' })
    expect(refused).toMatchObject({ status: 'refused', decision: { refusedBy: { unit: 'slots', requested: 1 } } })
    if (holds[0]!.status === 'reserved') holds[0]!.commit({ tokens: 10 })
    expect(used(quota)).toEqual([2, 1_010, 0, 1])
  })
})

describe('settings by unit', () => {
  it('settings override the policy’s prices unit by unit', async () => {
    const { quota } = made()
    await quota.settings.update({ prices: { complete: { usd: 4_000 } } })
    expect(quota.consumeSync({ subject: SUBJECT, operation: 'complete' }).cost).toEqual({
      requests: 1,
      tokens: 2_000,
      usd: 4_000,
    })
    const wrong = quota.settings.update({ prices: { complete: 5 } } as never)
    await expect(wrong).rejects.toThrow(/prices.complete: this policy counts requests, tokens, usd: write/)
    const unknown = quota.settings.update({ prices: { complete: { euros: 5 } } } as never)
    await expect(unknown).rejects.toThrow(/prices.complete: euros: not a unit: "euros"; the policy counts requests/)
  })

  it('a stored price with unknown units falls back to the policy', async () => {
    const settingsStore = memorySettings()
    const { quota } = made()
    const document = { ...quota.settings.current().settings, prices: { complete: { euros: 5 }, list: { tokens: 7 } } }
    settingsStore.write(document as never, { ifRevision: '' } as never)
    const other = createQuota({ policy: unitsPolicy, settingsStore, clock: testClock() })
    expect((await other.settings.faults()).map(({ path }) => path)).toContain('prices.complete.euros')
    expect(other.consumeSync({ subject: SUBJECT, operation: 'complete' }).cost).toMatchObject({ tokens: 2_000 })
    expect(other.consumeSync({ subject: SUBJECT, operation: 'list' }).cost).toMatchObject({ requests: 1, tokens: 7 })
  })

  it('a stored price applies unit by unit, and writes keep other processes’ units', async () => {
    const settingsStore = memorySettings()
    const quota = createQuota({
      settingsStore,
      clock: testClock(),
      limits: { perHour: { by: 'user', limit: 100, of: 'tokens', per: '1h' } },
      unit: 'tokens',
      operations: { complete: { cost: 7 }, list: { cost: 1 } },
    })
    const prices = { complete: { tokens: 3, usd: 5 }, list: { usd: 1 } }
    settingsStore.write({ ...quota.settings.current().settings, prices } as never, { ifRevision: '' } as never)
    expect(await quota.settings.faults()).toEqual([
      { path: 'prices.complete.usd', message: 'not in the policy: kept, not in force' },
      { path: 'prices.list.usd', message: 'not in the policy: kept, not in force' },
    ])
    const costOf = (operation: 'complete' | 'list') => quota.consumeSync({ subject: 'u', operation }).cost
    expect([costOf('complete'), costOf('list')]).toEqual([3, 1])
    await quota.settings.update({ mode: 'lenient' })
    expect(settingsStore.read()?.document).toMatchObject({ mode: 'lenient', prices })
    await quota.settings.update({ prices: { complete: { tokens: 4 } } } as never)
    expect(settingsStore.read()?.document).toMatchObject({ prices: { ...prices, complete: { tokens: 4, usd: 5 } } })
  })

  it('valid units of a stored price apply, and invalid ones are reported', async () => {
    const settingsStore = memorySettings()
    const stored = { complete: { tokens: 3, usd: -1, requests: 2 }, list: {} }
    settingsStore.write({ prices: stored }, { ifRevision: '' } as never)
    const quota = createQuota({ policy: unitsPolicy, settingsStore, clock: testClock() })
    const paths = (await quota.settings.faults()).map(({ path }) => path).filter((path) => path.startsWith('prices'))
    expect(paths).toEqual(['prices.complete.usd', 'prices.list'])
    const { cost } = quota.consumeSync({ subject: SUBJECT, operation: 'complete' })
    expect(cost).toEqual({ requests: 2, tokens: 3, usd: 9_000 })
  })

  it('settings warn about a limit that is below a price in its own unit only', async () => {
    const { quota } = made()
    const { warnings } = await quota.settings.update({ limits: { 'user-budget': usd.millionths(8_999) } })
    expect(warnings).toEqual([
      {
        path: 'limits.user-budget',
        message: 'the effective limit of 8999 usd is below the price of complete',
      },
    ])
  })

  it('settings and plans scale, override and shadow windows of any unit', async () => {
    const { quota } = made()
    const limits = () => limitsOf(quota).map(({ limit }) => limit)
    await quota.settings.update({ mode: 'lenient' })
    expect(limits()).toEqual([7, 15_000, 75_000, 2])
    await quota.settings.update({ mode: 'normal', shadow: { 'user-budget': true } })
    await quota.subjects.set({ user: 'ann' }, { limits: { 'user-budget': usd.millionths(10) }, plan: 'pro' })
    expect(limits()).toEqual([5, 12_000, 10, 2])
    const shadowed = quota.consumeSync({ subject: SUBJECT, operation: 'complete' })
    expect(shadowed).toMatchObject({ allowed: true, shadowed: [{ name: 'user-budget', unit: 'usd', limit: 10 }] })
  })

  it('near limits are reported by unit', async () => {
    const { quota } = made()
    const near: unknown[] = []
    quota.on('nearLimit', ({ limit, threshold }) => near.push([limit.name, threshold]))
    await quota.settings.update({
      thresholds: [
        { share: 0.8, unit: 'usd' },
        { left: 3, unit: 'requests' },
      ],
    })
    quota.consumeSync({ subject: SUBJECT, operation: 'list', cost: { requests: 2, ...spent(9_000, 40_000) } })
    expect(near).toEqual([
      ['user-1m', { left: 3, unit: 'requests' }],
      ['user-budget', { share: 0.8, unit: 'usd' }],
    ])
    const unsaid = quota.settings.update({ thresholds: [{ left: 3 }] } as never)
    await expect(unsaid).rejects.toThrow(/thresholds.0.unit: missing/)
  })
})

describe('several units without the store', () => {
  it('the local policy spends a share of each unit and posts it by unit', async () => {
    const clock = testClock()
    const store = memoryStore({ clock })
    let isDown = false
    const counters = asyncStore(store, () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve()))
    const local = { local: { expectedProcesses: 2 } }
    const quota = createQuota({
      policy: unitsPolicy,
      clock,
      store: counters,
      failurePolicy: { list: local, complete: local },
      logger: false,
    })
    await quota.consume({ subject: SUBJECT, operation: 'list', cost: { tokens: 2_000 } })
    isDown = true
    // The budget's window was not seen open: nothing may be spent of it, and what costs none of it need not ask.
    await expect(quota.consume({ subject: SUBJECT, operation: 'complete' })).rejects.toThrow(/did not answer/)
    const ask = (tokens: number) => quota.consume({ subject: SUBJECT, operation: 'list', cost: { tokens } })
    expect(await ask(4_000)).toMatchObject({ source: 'fallback', cost: { requests: 1, tokens: 4_000 } })
    await expect(ask(1)).rejects.toThrow(/did not answer/)
    // Of requests floor(4 / 2) were left, of which one is spent.
    expect(await ask(0)).toMatchObject({ source: 'fallback' })
    await expect(ask(0)).rejects.toThrow(/did not answer/)
    isDown = false
    await quota.peek({ subject: SUBJECT, operation: 'list' })
    await quota.consume({ subject: { user: 'bob', team: 'red' }, operation: 'list' })
    const { limits } = await quota.status(SUBJECT)
    expect([limits['user-1m']?.used, limits['user-tokens']?.used, limits['user-budget']?.used]).toEqual([3, 6_000, 0])
  })
})

describe('responses for several units', () => {
  it('the body of a refusal has the unit, and its text says what is counted', () => {
    const { quota } = made()
    quota.consumeSync({ subject: SUBJECT, operation: 'list', cost: spent(9_999, 49_999) })
    const refused = quota.consumeSync({ subject: SUBJECT, operation: 'list', cost: { tokens: 9_000 } })
    if (refused.allowed) throw new Error('admitted')
    expect(quotaExceededBody(refused)).toEqual({
      error: 'quota_exceeded',
      msg: 'Limit reached: 10,000 tokens per minute. Try again in 1 minute.',
      retryAfterSeconds: 60,
      retryable: true,
      quota: {
        name: 'user-tokens',
        title: 'user',
        unit: 'tokens',
        limit: 10_000,
        used: 9_999,
        requested: 9_000,
        resetAt: new Date(refused.resetAt).toISOString(),
      },
    })
    expect(quotaExceededBody(refused, { locale: 'zh-CN' }).msg).toBe(
      '已达上限：每分钟 10,000 个 token。请在 1 分钟后重试。',
    )
    const money = quota.consumeSync({ subject: SUBJECT, operation: 'list', cost: { usd: usd.millionths(9_000) } })
    if (money.allowed) throw new Error('admitted')
    expect(quotaExceededBody(money).msg).toBe('Limit reached: $0.05 per 30 days. Try again in 30 days.')
    expect(quotaExceededBody(money, { locale: 'zh-CN' }).msg).toBe('已达上限：每 30 天 0.05 美元。请在 30 天后重试。')
  })

  it('a status has the unit of each window', () => {
    const { quota } = made()
    const { limits } = quotaStatusBody(quota.statusSync(SUBJECT))
    expect(
      Object.values(limits)
        .map(({ unit }) => unit)
        .slice(0, 4),
    ).toEqual(['requests', 'tokens', 'usd', 'slots'])
  })

  it('RateLimit fields name the unit of the scarcest limit', () => {
    const { quota } = made()
    const first = quota.consumeSync({ subject: SUBJECT, operation: 'complete', cost: { tokens: 3_000 } })
    expect(rateLimitHeaders(first)).toEqual({
      'RateLimit-Policy': '"user-tokens";q=10000;qu="tokens";w=60',
      RateLimit: '"user-tokens";r=7000;t=60',
    })
    const list = quota.consumeSync({ subject: SUBJECT, operation: 'list' })
    expect(rateLimitHeaders(list)).toEqual({
      'RateLimit-Policy': '"user-1m";q=5;w=60',
      RateLimit: '"user-1m";r=3;t=60',
    })
    expect(rateLimitHeaders(structuredClone(list.toJSON()) as never)).toEqual(rateLimitHeaders(list))
    const { decision } = quota.reserveSync({ subject: SUBJECT, operation: 'agent' })
    expect(rateLimitHeaders(decision!, { fields: 'all' })['RateLimit-Policy']).toContain(
      '"user-running";q=2;qu="concurrent-requests"',
    )
  })

  it('top subjects can be listed by unit', () => {
    const { quota, clock } = made()
    const top = topSubjects({ quota, periodMs: 3_600_000, clock })
    quota.consumeSync({ subject: SUBJECT, operation: 'complete' })
    expect(top.spent('complete', 3, 'usd')).toEqual([{ subject: 'ann', amount: 9_000, atLeast: 9_000 }])
    expect(top.spent('complete', 3, 'requests')).toEqual([{ subject: 'ann', amount: 1, atLeast: 1 }])
    expect(() => top.spent('complete')).toThrow(/unit: expected one of requests, tokens, usd/)
  })
})
