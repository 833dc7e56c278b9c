import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LOCALES, type MessageFacts, rateLimitHeaders } from '../src/http.ts'
import { type Decision, quotaExceededBody, quotaHeaders, type RefusedDecision, type Violation } from '../src/index.ts'
import { windowLabel } from '../src/score-gateway/score-gateway-answers.ts'
import { beijingText, scoreGatewayAnswers } from '../src/score-gateway.ts'
import { fixture, flatBase, START, testPolicy } from './support.ts'

function refusal(decision: Decision): RefusedDecision {
  if (decision.allowed) throw new Error('expected a refusal')
  return decision
}

function exhausted(): RefusedDecision {
  const base = testPolicy().base
  const roomy = { ...base.personal!, write: { '1h': 60, '5h': 2000, '1d': 6000 } }
  const { quota } = fixture({ policy: testPolicy({ ...base, personal: roomy }) })
  for (let i = 0; i < 4; i++) quota.consumeSync({ subject: 'u', operation: 'write' })
  return refusal(quota.consumeSync({ subject: 'u', operation: 'write' }))
}

function hopeless(): RefusedDecision {
  return refusal(fixture().quota.consumeSync({ subject: 'u', operation: 'write', cost: 61 }))
}

const forum = { answers: scoreGatewayAnswers({ supportForumUrl: 'https://forum.example.com' }) }

describe('the body of a 429 under the default policy', () => {
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
    const labels = (window: Partial<Violation>): string[] =>
      LOCALES.map((locale) => windowLabel({ ...exhausted().binding, ...window }, locale))
    expect(labels({})).toEqual(['1-Hour', '1 小时'])
    expect(labels({ window: '5h', lengthMs: 18_000_000 })).toEqual(['5-Hour', '5 小时'])
    expect(labels({ window: '1d', lengthMs: 86_400_000 })).toEqual(['1-Day', '1 天'])
    expect(labels({ window: '90m', lengthMs: 5_400_000 })).toEqual(['90-Minute', '90 分钟'])
    expect(labels({ window: 'month', kind: 'calendar' })).toEqual(['Month', '每月'])
    expect(labels({ window: 'term', kind: 'calendar' })).toEqual(['Term', 'term'])
    expect(labels({ window: 'running', kind: 'concurrency', lengthMs: null })).toEqual(['Running', 'running'])
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

  it('the RateLimit fields name the scarcest limit of an admission and the binding limit of a 429', () => {
    const { quota } = fixture()
    const admitted = quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(quotaHeaders(admitted)).toEqual({})
    const fields = { 'RateLimit-Policy': '"personal-1h";q=60;w=3600', RateLimit: '"personal-1h";r=45;t=3600' }
    expect(quotaHeaders(admitted, { standardHeaders: 'draft-10' })).toEqual(fields)
    expect(quotaHeaders(admitted, { standardHeaders: 'draft-11' })).toEqual(fields)
    expect(rateLimitHeaders(exhausted())).toEqual({ ...fields, RateLimit: '"personal-1h";r=0;t=3600' })
    expect(rateLimitHeaders(hopeless()).RateLimit).toBe('"personal-1h";r=60')
  })

  it("fields: 'all' lists every window of an admission and each refusing window of a 429", () => {
    const { quota } = fixture()
    const admitted = quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(quotaHeaders(admitted, { standardHeaders: 'draft-10', fields: 'all' })).toEqual({
      'RateLimit-Policy':
        '"personal-1h";q=60;w=3600, "personal-5h";q=200;w=18000, "personal-1d";q=600;w=86400, ' +
        '"site-1h";q=1500;w=3600, "site-5h";q=5000;w=18000, "site-1d";q=18000;w=86400',
      RateLimit:
        '"personal-1h";r=45;t=3600, "personal-5h";r=185;t=18000, "personal-1d";r=585;t=86400, ' +
        '"site-1h";r=1485;t=3600, "site-5h";r=4985;t=18000, "site-1d";r=17985;t=86400',
    })
    expect(rateLimitHeaders(exhausted(), { fields: 'all' })).toEqual({
      'RateLimit-Policy': expect.stringMatching(/^"personal-1h";q=60;w=3600, .*"site-1d";q=18000;w=86400$/),
      RateLimit: '"personal-1h";r=0;t=3600',
    })
  })

  it('headers leave out unlimited windows, and free requests have none', async () => {
    const { quota } = fixture()
    await quota.subjects.set('u', { overrides: { write: { '1h': 'unlimited', '5h': 'unlimited' } }, bypass: ['site'] })
    const decision = quota.consumeSync({ subject: 'u', operation: 'write' })
    expect(rateLimitHeaders(decision).RateLimit).toBe('"personal-1d";r=585;t=86400')
    expect(rateLimitHeaders(quota.consumeSync({ subject: 'u', operation: 'free' }))).toEqual({})
  })

  it('headers have each subject’s own limits, whichever subject came before', async () => {
    const { quota } = fixture()
    await quota.subjects.set('v', { overrides: { write: { '5h': 199 } } })
    const policyOf = (subject: string): string =>
      rateLimitHeaders(quota.consumeSync({ subject, operation: 'write', cost: 1 }), { fields: 'all' })[
        'RateLimit-Policy'
      ]!
    const [u, v, uAgain] = [policyOf('u'), policyOf('v'), policyOf('u')]
    expect(v).toBe(u.replace('"personal-5h";q=200', '"personal-5h";q=199'))
    expect(uAgain).toBe(u)
  })

  it('Retry-After is never less than the reset of a listed window', () => {
    const limit = fc.integer({ min: 0, max: 40 })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 5e6 }), limit), { maxLength: 12 }),
        limit,
        (steps, cost) => {
          const { quota, clock } = fixture({ policy: testPolicy(flatBase(30, 40)) })
          for (const [ms, tokens] of steps) {
            clock.at += ms
            quota.consumeSync({ subject: 'u', operation: 'write', cost: tokens })
          }
          const decision = quota.consumeSync({ subject: 'u', operation: 'write', cost: cost + 1 })
          if (decision.allowed) return
          const fields = rateLimitHeaders(decision, { fields: 'all' })
          const waits = [...fields.RateLimit!.matchAll(/;t=(\d+)/g)].map(([, t]) => Number(t))
          expect(Math.max(0, ...waits)).toBeLessThanOrEqual(decision.retryAfterSeconds)
          expect(fields.RateLimit!.split(', ')).toHaveLength(decision.violations.length)
          expect(fields.RateLimit).toContain(rateLimitHeaders(decision).RateLimit)
        },
      ),
    )
  })
})
