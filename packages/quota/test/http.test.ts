import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type MessageFacts, quotaExceededBody, quotaHeaders, rateLimitHeaders } from '../src/http.ts'
import type { Decision, Refusal, RefusedDecision } from '../src/index.ts'
import { LOCALES } from '../src/internal.ts'
import { windowLabel } from '../src/score-gateway/score-gateway-answers.ts'
import { beijingText, scoreGatewayAnswers } from '../src/score-gateway.ts'
import { flatLimits, type Gateway, gateway, gatewayPolicy, START } from './support.ts'

function refusal(decision: Decision<Gateway>): RefusedDecision<Gateway> {
  if (decision.allowed) throw new Error('expected a refusal')
  return decision
}

function exhausted(): RefusedDecision {
  const { quota } = gateway({ policy: gatewayPolicy({ 'personal-write-5h': 2_000, 'personal-write-1d': 6_000 }) })
  for (let i = 0; i < 4; i++) quota.consumeSync({ subject: 'u', operation: 'write' })
  return refusal(quota.consumeSync({ subject: 'u', operation: 'write' }))
}

function hopeless(): RefusedDecision {
  return refusal(gateway().quota.consumeSync({ subject: 'u', operation: 'write', cost: 61 }))
}

const forum = { answers: scoreGatewayAnswers({ supportForumUrl: 'https://forum.example.com' }) }

describe('the body of a 429 under the score gateway’s policy', () => {
  it('a 429 body has the layer, the window, the amount and the reset', () => {
    expect(quotaExceededBody(exhausted(), forum)).toEqual({
      error: 'quota_exceeded',
      msg:
        'Reached Personal 1-Hour Quota Limit for Write requests. You may continue after 2026-08-06 23:06:26 ' +
        'Beijing Time (UTC+8). For a higher quota, ask at https://forum.example.com.',
      retryAfterSeconds: 3600,
      quota: {
        scope: 'Personal',
        category: 'write',
        window: '1h',
        limit: 60,
        used: 60,
        requested: 15,
        resetAt: '2026-08-06T15:06:26.000Z',
        retryAtBeijing: '2026-08-06 23:06:26',
        timeZone: 'Asia/Shanghai',
        retryAt: '2026-08-06T15:06:26.000Z',
        windowLabel: '1-Hour',
      },
    })
  })

  it('a 429 body lists the specified members first, in order, then the additional ones', () => {
    const { quota } = quotaExceededBody(exhausted())
    const specified = 'scope category window limit used requested resetAt retryAtBeijing timeZone'
    expect(Object.keys(quota)).toEqual([...specified.split(' '), 'retryAt', 'windowLabel'])
    expect(quota).toMatchObject({ retryAt: quota.resetAt })
    const answers = scoreGatewayAnswers({ timeZone: 'Europe/Berlin' })
    const elsewhere = quotaExceededBody(exhausted(), { answers }).quota
    expect(elsewhere).toMatchObject({ retryAt: quota.resetAt, retryAtLocal: '2026-08-06 17:06:26' })
    expect(elsewhere).not.toHaveProperty('retryAtBeijing')
  })

  it('a 429 body describes the window in the caller’s language', () => {
    const labels = (limit: Partial<Refusal>): string[] =>
      LOCALES.map((locale) => windowLabel({ ...exhausted().refusedBy, ...limit }, locale))
    expect(labels({})).toEqual(['1-Hour', '1 小时'])
    expect(labels({ name: '5h', lengthMs: 18_000_000 })).toEqual(['5-Hour', '5 小时'])
    expect(labels({ name: '1d', lengthMs: 86_400_000 })).toEqual(['1-Day', '1 天'])
    expect(labels({ name: '90m', lengthMs: 5_400_000 })).toEqual(['90-Minute', '90 分钟'])
    expect(labels({ name: 'month', kind: 'calendar' })).toEqual(['Month', '每月'])
    expect(labels({ name: 'term', kind: 'calendar' })).toEqual(['Term', 'term'])
    expect(labels({ name: 'running', kind: 'concurrency', lengthMs: null })).toEqual(['Running', 'running'])
  })

  it('a 429 body can be Chinese', () => {
    expect(quotaExceededBody(exhausted(), { ...forum, locale: 'zh-CN' }).msg).toBe(
      '已达到个人 1 小时写入配额上限。' +
        '您可以在北京时间（UTC+8）2026-08-06 23:06:26 之后继续请求。如需更高配额，请前往 https://forum.example.com 申请。',
    )
    expect(quotaExceededBody(hopeless(), { locale: 'zh-CN' }).msg).toContain('等待无法解决')
  })

  it('a 429 body says when waiting won’t help', () => {
    const { msg, quota } = quotaExceededBody(hopeless())
    expect(msg).toBe(
      'This request needs 61 tokens, more than the Personal 1-Hour Quota Limit of 60 for Write requests: waiting will ' +
        'not help. For a higher quota, ask at the support forum.',
    )
    expect(quota).toMatchObject({ used: 0, limit: 60, requested: 61, resetAt: '2026-08-06T15:06:26.000Z' })
  })

  it('a 429 body uses the application’s own texts', () => {
    const messages = { en: ({ decision, text }: MessageFacts) => `${text} (${beijingText(decision.resetAt)})` }
    expect(quotaExceededBody(exhausted(), { messages }).msg).toMatch(/^Reached .*forum\. \(2026-08-06 23:06:26\)$/)
    expect(quotaExceededBody(exhausted(), { messages, locale: 'zh-CN' }).msg).toContain('已达到')
  })

  it('a 429 body in Beijing time is never before the reset', () => {
    fc.assert(
      // From 1992 on: before, Shanghai kept summer time, when its offset was not +08:00.
      fc.property(fc.integer({ min: Date.UTC(1992, 0), max: 4e12 }), (instant) => {
        const named = Date.parse(`${beijingText(instant).replace(' ', 'T')}+08:00`)
        expect(named).toBeGreaterThanOrEqual(instant)
        expect(named - instant).toBeLessThan(1000)
      }),
      { examples: [[START + 1], [START]] },
    )
  })
})

describe('response headers', () => {
  it('a refusal has Retry-After and X-Quota-Reset', () => {
    expect(quotaHeaders(exhausted())).toEqual({ 'Retry-After': '3600', 'X-Quota-Reset': '2026-08-06T15:06:26.000Z' })
  })

  it('the RateLimit fields name the scarcest limit of an admission and the limit that refuses', () => {
    const { quota } = gateway()
    const admitted = quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(quotaHeaders(admitted)).toEqual({})
    const fields = {
      'RateLimit-Policy': '"personal-write-1h";q=60;qu="tokens";w=3600',
      RateLimit: '"personal-write-1h";r=45;t=3600',
    }
    expect(quotaHeaders(admitted, { standardHeaders: 'draft-10' })).toEqual(fields)
    expect(quotaHeaders(admitted, { standardHeaders: 'draft-11' })).toEqual(fields)
    expect(rateLimitHeaders(exhausted())).toEqual({ ...fields, RateLimit: '"personal-write-1h";r=0;t=3600' })
    expect(rateLimitHeaders(hopeless()).RateLimit).toBe('"personal-write-1h";r=60')
  })

  it("fields: 'all' lists every window of an admission and each refusing window of a 429", () => {
    const { quota } = gateway()
    const admitted = quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(quotaHeaders(admitted, { standardHeaders: 'draft-10', fields: 'all' })).toEqual({
      'RateLimit-Policy':
        '"personal-write-1h";q=60;qu="tokens";w=3600, "personal-write-5h";q=200;qu="tokens";w=18000, "personal-write-1d";q=600;qu="tokens";w=86400, ' +
        '"site-write-1h";q=1500;qu="tokens";w=3600, "site-write-5h";q=5000;qu="tokens";w=18000, "site-write-1d";q=18000;qu="tokens";w=86400',
      RateLimit:
        '"personal-write-1h";r=45;t=3600, "personal-write-5h";r=185;t=18000, "personal-write-1d";r=585;t=86400, ' +
        '"site-write-1h";r=1485;t=3600, "site-write-5h";r=4985;t=18000, "site-write-1d";r=17985;t=86400',
    })
    expect(rateLimitHeaders(exhausted(), { fields: 'all' })).toEqual({
      'RateLimit-Policy': expect.stringMatching(
        /^"personal-write-1h";q=60;qu="tokens";w=3600, .*"site-write-1d";q=18000;qu="tokens";w=86400$/,
      ),
      RateLimit: '"personal-write-1h";r=0;t=3600',
    })
  })

  it('headers leave out unlimited windows, and free requests have none', async () => {
    const { quota } = gateway()
    await quota.subjects.set('u', {
      limits: { 'personal-write-1h': 'unlimited', 'personal-write-5h': 'unlimited' },
      bypass: { site: true },
    })
    const decision = quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(rateLimitHeaders(decision).RateLimit).toBe('"personal-write-1d";r=585;t=86400')
    expect(rateLimitHeaders(quota.consumeSync({ subject: 'u', operation: 'free' }))).toEqual({})
  })

  it('headers have each subject’s own limits, whichever subject came before', async () => {
    const { quota } = gateway()
    await quota.subjects.set('v', { limits: { 'personal-write-5h': 199 } })
    const policyOf = (subject: string): string =>
      rateLimitHeaders(quota.consumeSync({ subject, operation: 'write', cost: 1 }), { fields: 'all' })[
        'RateLimit-Policy'
      ]!
    const [u, v, uAgain] = [policyOf('u'), policyOf('v'), policyOf('u')]
    expect(v).toBe(u.replace('"personal-write-5h";q=200', '"personal-write-5h";q=199'))
    expect(uAgain).toBe(u)
  })

  it('Retry-After is never less than the reset of a listed window', () => {
    const limit = fc.integer({ min: 0, max: 40 })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5e6 }), limit), { maxLength: 12 }),
        limit,
        (steps, cost) => {
          const { quota, clock } = gateway({ policy: gatewayPolicy(flatLimits(30, 40)), logger: false })
          for (const [ms, tokens] of steps) {
            clock.at += ms
            quota.consumeSync({ subject: 'u', operation: 'write', cost: tokens })
          }
          const decision = quota.consumeSync({ subject: 'u', operation: 'write', cost: cost + 1 })
          if (decision.allowed) return
          const fields = rateLimitHeaders(decision, { fields: 'all' })
          const waits = [...fields.RateLimit!.matchAll(/;t=(\d+)/g)].map(([, t]) => Number(t))
          expect(Math.max(0, ...waits)).toBeLessThanOrEqual(Math.ceil((decision.resetAt - decision.now) / 1_000))
          expect(fields.RateLimit!.split(', ')).toHaveLength(decision.refusals.length)
          expect(fields.RateLimit).toContain(rateLimitHeaders(decision).RateLimit)
        },
      ),
    )
  })
})
