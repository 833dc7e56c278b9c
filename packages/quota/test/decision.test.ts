import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { quotaStatusBody } from '../src/http.ts'
import { createQuota, type Decision, type RefusedDecision } from '../src/index.ts'
import {
  flatLimits,
  type Gateway,
  type GatewayEngine,
  gateway,
  gatewayPolicy,
  HOUR,
  START,
  testClock,
  usedIn,
} from './support.ts'

function refusal(decision: Decision<Gateway>): RefusedDecision<Gateway> {
  if (decision.allowed) throw new Error('expected a refusal')
  return decision
}

type Quota = GatewayEngine['quota']

/** How much of each limit of writes is used. */
function written(quota: Quota, subject = 'u'): unknown[] {
  const used = Object.entries(usedIn(quota.statusSync(subject)))
  return used.filter(([name]) => name.includes('write')).map(([, each]) => each)
}

function perHour(quota: Quota) {
  return quota.statusSync('u').limits['personal-write-1h']
}

describe('the limits that refuse', () => {
  it('are those without room, and not one that the request would fill', () => {
    const quota = createQuota({
      limits: { full: { by: 'user', limit: 1, per: '1h' }, room: { by: 'user', limit: 2, per: '2h' } },
    })
    expect(quota.consumeSync({ subject: 'u' }).allowed).toBe(true)
    const decision = quota.consumeSync({ subject: 'u' })
    expect(decision).toMatchObject({ allowed: false, refusals: [{ name: 'full' }] })
  })
})

describe('the limit that is reported', () => {
  it('is the longer window, of two in a layer that end together', () => {
    const clock = testClock()
    const quota = createQuota({
      limits: {
        short: { by: 'user', limit: 1, per: '1h', for: ['late', 'both'] },
        long: { by: 'user', limit: 1, per: '2h', for: ['early', 'both'] },
      },
      operations: { early: {}, late: {}, both: {} },
      clock,
    })
    quota.consumeSync({ subject: 'u', operation: 'early' })
    clock.at += HOUR
    quota.consumeSync({ subject: 'u', operation: 'late' })
    const decision = quota.consumeSync({ subject: 'u', operation: 'both' })
    expect(decision).toMatchObject({ allowed: false, refusedBy: { name: 'long', resetAt: START + 2 * HOUR } })
  })
})

describe('windows of decisions', () => {
  it('a window opens with the first admitted request and ends at its exact millisecond', () => {
    const { quota, clock } = gateway()
    expect(perHour(quota)).toMatchObject({ used: 0, startedAt: null, resetAt: null })
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(perHour(quota)).toMatchObject({
      used: 15,
      remaining: 45,
      startedAt: START,
      resetAt: START + HOUR,
    })
    clock.at = START + HOUR - 1
    expect(perHour(quota)).toMatchObject({ used: 15, startedAt: START })
    clock.at = START + HOUR
    expect(perHour(quota)).toMatchObject({ used: 0, startedAt: null, resetAt: null })
    expect(quota.statusSync('u').limits['personal-write-5h']).toMatchObject({ used: 15, startedAt: START })
  })

  it('a refusal, a status query, a peek and a free operation open no window', () => {
    const { quota } = gateway()
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 61 })
    quota.peekSync({ subject: 'u', operation: 'write' })
    quota.statusSync('u')
    expect(quota.consumeSync({ subject: 'u', operation: 'free' })).toMatchObject({ allowed: true, source: 'free' })
    const limits = Object.values(quota.statusSync('u').limits)
    expect(limits.map(({ startedAt }) => startedAt)).toEqual(Array(12).fill(null))
  })

  it('windows of read and write, and of two users, share only the site layer', () => {
    const { quota } = gateway()
    quota.consumeSync({ subject: 'a', operation: 'write' })
    expect(usedIn(quota.statusSync('a'))).toMatchObject({ 'personal-read-1h': 0, 'site-read-1h': 0 })
    expect(written(quota, 'b')).toEqual([0, 0, 0, 15, 15, 15])
  })
})

describe('decisions', () => {
  it('a decision charges every window of every layer or none', () => {
    const { quota } = gateway({ logger: false, policy: gatewayPolicy(flatLimits(100, 20)) })
    expect(quota.consumeSync({ subject: 'a', operation: 'write' }).allowed).toBe(true)
    expect(quota.consumeSync({ subject: 'b', operation: 'write' }).allowed).toBe(false)
    expect(written(quota, 'b')).toEqual([0, 0, 0, 15, 15, 15])
  })

  it('a refusal lists every window that refuses and reports the one that ends last', () => {
    const { quota, clock } = gateway({ logger: false, policy: gatewayPolicy(flatLimits(20, 20)) })
    quota.consumeSync({ subject: 'u', operation: 'write' })
    clock.at += 1000
    const decision = refusal(quota.consumeSync({ subject: 'u', operation: 'write' }))
    expect(decision.refusals.map(({ name }) => name)).toEqual(Object.keys(decision.limits))
    expect(decision.refusedBy).toMatchObject({ name: 'personal-write-1d', limit: 20, used: 15, requested: 15 })
    expect(decision).toMatchObject({ retryable: true, resetAt: START + 24 * HOUR, retryAfterSeconds: 24 * 3600 - 1 })
  })

  it('a refusal reports a window whose limit is below the cost first, because waiting won’t help', () => {
    const policy = gatewayPolicy({ ...flatLimits(100, 1_000), 'site-write-1h': 40 })
    const { quota, clock } = gateway({ policy, logger: false })
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 35 })
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 5 })
    const decision = refusal(quota.consumeSync({ subject: 'u', operation: 'write', cost: 70 }))
    expect(decision.refusals.length).toBeGreaterThan(1)
    expect(decision).toMatchObject({ retryable: false, refusedBy: { name: 'site-write-1h', retryable: false } })
    clock.at += HOUR
    const later = refusal(quota.consumeSync({ subject: 'u', operation: 'write', cost: 70 }))
    expect(later.refusedBy).toMatchObject({ name: 'site-write-1h', used: 0, resetAt: clock.at + HOUR })
  })

  it('a refused request is refused until 1 ms before its retry time and admitted at that time', () => {
    const { quota, clock } = gateway()
    for (let i = 0; i < 4; i++) quota.consumeSync({ subject: 'u', operation: 'write' })
    clock.at += 1
    const decision = refusal(quota.consumeSync({ subject: 'u', operation: 'write' }))
    const asked = clock.at
    clock.at = decision.resetAt - 1
    expect(quota.peekSync({ subject: 'u', operation: 'write' }).allowed).toBe(false)
    clock.at = asked + (decision.retryAfterSeconds ?? 0) * 1000
    expect(quota.consumeSync({ subject: 'u', operation: 'write' }).allowed).toBe(true)
  })

  it('JSON.stringify() writes a whole decision', () => {
    const { quota } = gateway({ logger: false, policy: gatewayPolicy(flatLimits(20, 20)) })
    expect(JSON.parse(JSON.stringify(quota.consumeSync({ subject: 'u', operation: 'write' })))).toMatchObject({
      allowed: true,
      subject: 'u',
      operation: 'write',
      cost: 15,
      now: START,
      settingsVersion: 0,
      source: 'store',
      limits: { 'personal-write-1h': { by: 'personal', used: 15, remaining: 5, from: 'base' }, 'site-write-1d': {} },
    })
    expect(JSON.parse(JSON.stringify(quota.consumeSync({ subject: 'u', operation: 'write' })))).toMatchObject({
      allowed: false,
      retryAfterSeconds: 86_400,
      refusedBy: { name: 'personal-write-1d' },
    })
  })

  it('peek() changes nothing and returns what consume() would', () => {
    const { quota } = gateway()
    const before = JSON.stringify(quota.statusSync('u'))
    expect(quota.peekSync({ subject: 'u', operation: 'write', cost: 60 }).allowed).toBe(true)
    expect(quota.peekSync({ subject: 'u', operation: 'write', cost: 61 }).allowed).toBe(false)
    expect(JSON.stringify(quota.statusSync('u'))).toBe(before)
  })
})

describe('status()', () => {
  it('status() lists the limits in the policy’s order, and its JSON has ISO instants', () => {
    const { quota } = gateway()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    const body = quotaStatusBody(quota.statusSync('u'), { timeZone: 'Asia/Shanghai' })
    expect(body.timeZone).toBe('Asia/Shanghai')
    expect(quotaStatusBody(quota.statusSync('u'))).toEqual({ limits: body.limits })
    expect(Object.keys(body.limits)).toEqual(quota.policy.limits.map(({ name }) => name))
    expect(body.limits['personal-write-1h']).toEqual({
      title: 'Personal',
      unit: 'tokens',
      limit: 60,
      used: 15,
      remaining: 45,
      startedAt: '2026-08-06T14:06:26.000Z',
      resetAt: '2026-08-06T15:06:26.000Z',
    })
    expect(body.limits['personal-read-1h']).toMatchObject({ startedAt: null, resetAt: null, used: 0, remaining: 120 })
  })
})

describe('reset()', () => {
  it('reset() closes the subject’s own windows, and shared ones only when they are named', async () => {
    const { quota } = gateway()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    quota.consumeSync({ subject: 'u', operation: 'read' })
    await quota.reset('u', { limits: ['personal-read-1h', 'site-write-1h'] })
    expect(written(quota)).toEqual([15, 15, 15, 0, 15, 15])
    expect(usedIn(quota.statusSync('u'))).toMatchObject({ 'personal-read-1h': 0, 'personal-read-5h': 4 })
    await quota.reset('u')
    expect(written(quota)).toEqual([0, 0, 0, 0, 15, 15])
  })

  it('reset() within a window’s millisecond opens a window that can be distinguished', async () => {
    const { quota } = gateway()
    const first = quota.reserveSync({ subject: 'u', operation: 'write' })
    await quota.reset('u')
    quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(perHour(quota)).toMatchObject({ startedAt: START + 1, used: 15 })
    first.cancel()
    expect(perHour(quota)?.used).toBe(15)
  })

  it('reset() rejects names that the policy doesn’t have', async () => {
    const reset = gateway().quota.reset('u', { limits: ['team-read-1h' as 'site-read-1h'] })
    await expect(reset).rejects.toMatchObject({ code: 'invalid_reset' })
  })
})

describe('clocks that step', () => {
  it('windows stay open when the clock steps back', () => {
    const { quota, clock } = gateway()
    quota.consumeSync({ subject: 'u', operation: 'write' })
    clock.at -= 4_000
    expect(quota.consumeSync({ subject: 'u', operation: 'write', cost: 46 }).allowed).toBe(false)
    expect(perHour(quota)).toMatchObject({ startedAt: START, used: 15 })
  })

  it('a clock that jumps a year ahead and back blocks no subject and resets no counter', () => {
    const { quota, clock } = gateway()
    clock.at += 365 * 24 * HOUR
    quota.consumeSync({ subject: 'u', operation: 'write', cost: 60 })
    clock.at = START
    const decision = refusal(quota.consumeSync({ subject: 'u', operation: 'write' }))
    expect(decision.refusedBy).toMatchObject({ name: 'personal-write-1h', used: 60, resetAt: START + HOUR + 1 })
    clock.at += HOUR + 1
    expect(quota.consumeSync({ subject: 'u', operation: 'write' }).allowed).toBe(true)
  })
})

describe('copies of a decision', () => {
  const SAME = ['allowed', 'subject', 'operation', 'cost', 'now', 'settingsVersion', 'source'] as const
  const LAZY = ['shadowed', 'limits'] as const
  const OF_REFUSAL = ['refusals', 'refusedBy', 'retryable', 'resetAt', 'retryAfterMs', 'retryAfterSeconds'] as const

  function two(): readonly [Decision<Gateway>, RefusedDecision<Gateway>] {
    const { quota } = gateway({ logger: false, policy: gatewayPolicy(flatLimits(100, 20)) })
    const admission = quota.consumeSync({ subject: 'a', operation: 'write' })
    return [admission, refusal(quota.consumeSync({ subject: 'b', operation: 'write' }))]
  }

  it('a copy by toJSON(), structuredClone() or JSON has every member of the decision', () => {
    const [admission, refused] = two()
    for (const [decision, names] of [
      [admission, [...SAME, ...LAZY]],
      [refused, [...SAME, ...OF_REFUSAL, ...LAZY]],
    ] as const) {
      const all = Object.fromEntries(names.map((name) => [name, decision[name as keyof Decision<Gateway>]]))
      expect(decision.toJSON()).toEqual(all)
      expect({ ...decision.toJSON() }).toEqual(all)
      expect(structuredClone(decision.toJSON())).toEqual(all)
      expect(JSON.parse(JSON.stringify(decision))).toEqual(all)
    }
  })

  it('console.log() shows the members of a decision, the reason of a refusal before its limits', () => {
    const [admission, refused] = two()
    expect(inspect(admission)).toMatch(/allowed: true.*limits: \{\s*'personal-write-1h': \{/s)
    expect(inspect(refused)).toMatch(
      /allowed: false.*refusedBy: \{\s*name: 'site.*retryAfterSeconds: \d.*limits: \{\s*'personal-write-1h': \{/s,
    )
    expect(inspect({ refused }, { depth: 0 })).not.toContain('refusedBy')
  })
})
