import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type Decision, quotaStatusBody, type RefusedDecision } from '../src/index.ts'
import { fixture, flatBase, HOUR, START, testPolicy } from './support.ts'

function refusal(decision: Decision): RefusedDecision {
  if (decision.allowed) throw new Error('expected a refusal')
  return decision
}

describe('windows of decisions', () => {
  it('a window opens with the first admitted request and ends at its exact millisecond', () => {
    const { quota, clock } = fixture()
    expect(quota.statusSync('u').windows.write?.[0]).toMatchObject({ used: 0, startedAt: null, resetAt: null })
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(quota.statusSync('u').windows.write?.[0]).toMatchObject({
      used: 15,
      remaining: 45,
      startedAt: START,
      resetAt: START + HOUR,
    })
    clock.at = START + HOUR - 1
    expect(quota.statusSync('u').windows.write?.[0]).toMatchObject({ used: 15, startedAt: START })
    clock.at = START + HOUR
    expect(quota.statusSync('u').windows.write?.[0]).toMatchObject({ used: 0, startedAt: null, resetAt: null })
    expect(quota.statusSync('u').windows.write?.[1]).toMatchObject({ used: 15, startedAt: START })
  })

  it('a refusal, a status query, a peek and a free operation open no window', () => {
    const { quota } = fixture()
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 61 })
    quota.peekSync({ subject: 'u', operation: 'write' })
    quota.statusSync('u')
    expect(quota.consumeSync({ subject: 'u', operation: 'free' })).toMatchObject({ allowed: true, source: 'free' })
    const { read, write } = quota.statusSync('u').windows
    expect([...read!, ...write!].every(({ startedAt }) => startedAt === null)).toBe(true)
  })

  it('windows of read and write, and of two users, share only the site layer', () => {
    const { quota } = fixture()
    quota.consumeSync({ subject: 'a', operation: 'write' })
    expect(quota.statusSync('a').windows.read?.every(({ used }) => used === 0)).toBe(true)
    const [personal, , , site] = quota.statusSync('b').windows.write!
    expect([personal!.used, site!.used]).toEqual([0, 15])
  })
})

describe('decisions', () => {
  it('a decision charges every window of every layer or none', () => {
    const { quota } = fixture({ policy: testPolicy(flatBase(100, 20)) })
    expect(quota.consumeSync({ subject: 'a', operation: 'write' }).allowed).toBe(true)
    expect(quota.consumeSync({ subject: 'b', operation: 'write' }).allowed).toBe(false)
    expect(quota.statusSync('b').windows.write?.map(({ used }) => used)).toEqual([0, 0, 0, 15, 15, 15])
  })

  it('a refusal lists every window that refuses and reports the one that ends last', () => {
    const { quota, clock } = fixture({ policy: testPolicy(flatBase(20, 20)) })
    quota.consumeSync({ subject: 'u', operation: 'write' })
    clock.at += 1000
    const decision = refusal(quota.consumeSync({ subject: 'u', operation: 'write' }))
    expect(decision.violations.map(({ layer, window }) => `${layer} ${window}`)).toEqual([
      'personal 1h',
      'personal 5h',
      'personal 1d',
      'site 1h',
      'site 5h',
      'site 1d',
    ])
    expect(decision.binding).toMatchObject({ layer: 'personal', window: '1d', limit: 20, used: 15, requested: 15 })
    expect(decision).toMatchObject({ retryable: true, resetAt: START + 24 * HOUR, retryAfterSeconds: 24 * 3600 - 1 })
  })

  it('a refusal reports a window whose limit is below the cost first, because waiting won’t help', () => {
    const base = flatBase(100, 100)
    const { quota, clock } = fixture({
      policy: testPolicy({
        ...base,
        site: { ...base.site, write: { '1h': 40, '5h': 1000, '1d': 1000 } },
      }),
    })
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 35 })
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 5 })
    const decision = refusal(quota.consumeSync({ subject: 'u', operation: 'write', cost: 70 }))
    expect(decision.violations.length).toBeGreaterThan(1)
    expect(decision).toMatchObject({ retryable: false, binding: { layer: 'site', window: '1h', retryable: false } })
    clock.at += HOUR
    const later = refusal(quota.consumeSync({ subject: 'u', operation: 'write', cost: 70 }))
    expect(later.binding).toMatchObject({ layer: 'site', window: '1h', used: 0, resetAt: clock.at + HOUR })
  })

  it('a refused request is refused until 1 ms before its retry time and admitted at that time', () => {
    const { quota, clock } = fixture()
    for (let i = 0; i < 4; i++) quota.consumeSync({ subject: 'u', operation: 'write' })
    clock.at += 1
    const decision = refusal(quota.consumeSync({ subject: 'u', operation: 'write' }))
    const asked = clock.at
    clock.at = decision.resetAt - 1
    expect(quota.peekSync({ subject: 'u', operation: 'write' }).allowed).toBe(false)
    clock.at = asked + decision.retryAfterSeconds * 1000
    expect(quota.consumeSync({ subject: 'u', operation: 'write' }).allowed).toBe(true)
  })

  it('JSON.stringify() writes a whole decision', () => {
    const { quota } = fixture({ policy: testPolicy(flatBase(20, 20)) })
    expect(JSON.parse(JSON.stringify(quota.consumeSync({ subject: 'u', operation: 'write' })))).toMatchObject({
      allowed: true,
      subject: 'u',
      operation: 'write',
      category: 'write',
      cost: 15,
      now: START,
      settingsVersion: 0,
      source: 'store',
      windows: [{ layer: 'personal', window: '1h', used: 15, remaining: 5 }, {}, {}, {}, {}, {}],
    })
    expect(JSON.parse(JSON.stringify(quota.consumeSync({ subject: 'u', operation: 'write' })))).toMatchObject({
      allowed: false,
      retryAfterSeconds: 86_400,
      binding: { window: '1d' },
    })
  })

  it('peek() changes nothing and returns what consume() would', () => {
    const { quota } = fixture()
    const before = JSON.stringify(quota.statusSync('u'))
    expect(quota.peekSync({ subject: 'u', operation: 'write', cost: 60 }).allowed).toBe(true)
    expect(quota.peekSync({ subject: 'u', operation: 'write', cost: 61 }).allowed).toBe(false)
    expect(JSON.stringify(quota.statusSync('u'))).toBe(before)
  })
})

describe('status()', () => {
  it('status() lists the personal windows, then the site’s, and its JSON has ISO instants', () => {
    const { quota } = fixture()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const body = quotaStatusBody(quota.statusSync('u'), { timeZone: 'Asia/Shanghai' })
    expect(body.timeZone).toBe('Asia/Shanghai')
    expect(quotaStatusBody(quota.statusSync('u'))).toEqual({ windows: body.windows })
    expect(body.windows.write?.map(({ scope, window }) => `${scope} ${window}`)).toEqual([
      'Personal 1h',
      'Personal 5h',
      'Personal 1d',
      'Site 1h',
      'Site 5h',
      'Site 1d',
    ])
    expect(body.windows.write?.[0]).toEqual({
      scope: 'Personal',
      window: '1h',
      limit: 60,
      used: 15,
      remaining: 45,
      startedAt: '2026-08-06T14:06:26.000Z',
      resetAt: '2026-08-06T15:06:26.000Z',
    })
    expect(body.windows.read?.[0]).toMatchObject({ startedAt: null, resetAt: null, used: 0, remaining: 120 })
  })
})

describe('reset()', () => {
  it('reset() closes the personal windows, and the site’s only when it is named', async () => {
    const { quota } = fixture()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    quota.consumeSync({ subject: 'u', operation: 'read' })
    await quota.reset('u', { category: 'write' })
    expect(quota.statusSync('u').windows.write?.map(({ used }) => used)).toEqual([0, 0, 0, 15, 15, 15])
    expect(quota.statusSync('u').windows.read?.[0]?.used).toBe(4)
    await quota.reset('u', { layer: 'site' })
    expect(quota.statusSync('u').windows.write?.[3]?.used).toBe(0)
    expect(quota.statusSync('u').windows.read?.[0]?.used).toBe(4)
  })

  it('reset() within a window’s millisecond opens a window that can be distinguished', async () => {
    const { quota } = fixture()
    const first = quota.reserveSync({ subject: 'u', operation: 'write' })
    await quota.reset('u')
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(quota.statusSync('u').windows.write?.[0]).toMatchObject({ startedAt: START + 1, used: 15 })
    first.cancel()
    expect(quota.statusSync('u').windows.write?.[0]?.used).toBe(15)
  })

  it.each([{ layer: 'team' }, { category: 'delete' }])(
    'reset() rejects names that the policy doesn’t have: %o',
    async (options) => {
      await expect(fixture().quota.reset('u', options)).rejects.toMatchObject({ code: 'invalid_reset' })
    },
  )
})

describe('clocks that step', () => {
  it('windows stay open when the clock steps back', () => {
    const { quota, clock } = fixture()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    clock.at -= 4_000
    expect(quota.consumeSync({ subject: 'u', operation: 'write', cost: 46 }).allowed).toBe(false)
    expect(quota.statusSync('u').windows.write?.[0]).toMatchObject({ startedAt: START, used: 15 })
  })

  it('a clock that jumps a year ahead and back blocks no subject and resets no counter', () => {
    const { quota, clock } = fixture()
    clock.at += 365 * 24 * HOUR
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 60 })
    clock.at = START
    const decision = refusal(quota.consumeSync({ subject: 'u', operation: 'write' }))
    expect(decision.binding).toMatchObject({ window: '1h', used: 60, resetAt: START + HOUR + 1 })
    clock.at += HOUR + 1
    expect(quota.consumeSync({ subject: 'u', operation: 'write' }).allowed).toBe(true)
  })
})

describe('copies of a decision', () => {
  const SAME = ['allowed', 'subject', 'operation', 'category', 'cost', 'now', 'settingsVersion', 'source'] as const
  const LAZY = ['shadowed', 'windows'] as const
  const OF_REFUSAL = ['violations', 'binding', 'retryable', 'resetAt', 'retryAfterMs', 'retryAfterSeconds'] as const

  function two(): readonly [Decision, RefusedDecision] {
    const { quota } = fixture({ policy: testPolicy(flatBase(100, 20)) })
    const admission = quota.consumeSync({ subject: 'a', operation: 'write' })
    return [admission, refusal(quota.consumeSync({ subject: 'b', operation: 'write' }))]
  }

  it('a copy by toJSON(), structuredClone() or JSON has every member of the decision', () => {
    const [admission, refused] = two()
    for (const [decision, names] of [
      [admission, [...SAME, ...LAZY]],
      [refused, [...SAME, ...OF_REFUSAL, ...LAZY]],
    ] as const) {
      const all = Object.fromEntries(names.map((name) => [name, decision[name as keyof Decision]]))
      expect(decision.toJSON()).toEqual(all)
      expect({ ...decision.toJSON() }).toEqual(all)
      expect(structuredClone(decision.toJSON())).toEqual(all)
      expect(JSON.parse(JSON.stringify(decision))).toEqual(all)
    }
  })

  it('console.log() shows the members of a decision, the reason of a refusal before its windows', () => {
    const [admission, refused] = two()
    expect(inspect(admission)).toMatch(/allowed: true.*windows: \[\s*\{\s*layer: 'personal'/s)
    expect(inspect(refused)).toMatch(
      /allowed: false.*binding: \{\s*layer: 'site'.*retryAfterSeconds: \d.*windows: \[\s*\{\s*layer: 'personal'/s,
    )
    expect(inspect({ refused }, { depth: 0 })).not.toContain('binding')
  })
})
