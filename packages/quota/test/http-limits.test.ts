import { DateTime } from 'luxon'
import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { rateLimitFields } from '../src/http/headers.ts'
import { quotaExceededBody, quotaHeaders, quotaStatusBody, rateLimitHeaders, refusalHeaders } from '../src/http.ts'
import { createQuota } from '../src/index.ts'

/** 6 August 2026, 22:06:26 in Beijing. */
const NOW = Date.UTC(2026, 7, 6, 14, 6, 26)
const clock = { now: () => NOW }

function engine() {
  return createQuota({
    limits: {
      perHour: { by: 'user', limit: 100, per: '1h' },
      month: { by: 'user', limit: 30, every: 'month', timeZone: 'Asia/Shanghai' },
      running: { by: 'user', concurrency: 2, for: 'chat' },
    },
    operations: { write: {}, chat: {} },
    clock,
    calendar: luxonCalendar(),
  })
}

const monthEnd = DateTime.fromISO('2026-09-01T00:00:00', { zone: 'Asia/Shanghai' }).toMillis()

describe('HTTP responses for every kind of limit', () => {
  it('a response reports the end of a calendar limit’s period and the limit’s label', async () => {
    const quota = engine()
    await quota.consume({ subject: 'u', operation: 'write', cost: 30 })
    const refusal = await quota.consume({ subject: 'u', operation: 'write' })
    if (refusal.allowed) throw new Error('admitted')
    const waitSeconds = Math.ceil((monthEnd - NOW) / 1000)
    expect(refusalHeaders(refusal)['Retry-After']).toBe(String(waitSeconds))
    expect(quotaExceededBody(refusal)).toMatchObject({
      msg: 'Limit reached: 30 requests per month. Resets on 1 September 2026, 00:00 (Asia/Shanghai).',
      quota: { name: 'month', resetAt: '2026-08-31T16:00:00.000Z' },
    })
    expect(quotaExceededBody(refusal, { locale: 'zh-CN' }).msg).toBe(
      '已达上限：每月 30 次请求。将于 2026 年 9 月 1 日 00:00（Asia/Shanghai）重置。',
    )
    expect(rateLimitHeaders(refusal, { fields: 'all' })).toEqual({
      'RateLimit-Policy': `"perHour";q=100;w=3600, "month";q=30;w=${31 * 86_400}`,
      RateLimit: `"month";r=0;t=${waitSeconds}`,
    })
  })

  it('a response reports how many requests a concurrency limit has in flight, and when to retry', async () => {
    const quota = engine()
    for (let time = 0; time < 2; time++) await quota.reserve({ subject: 'u', operation: 'chat' })
    const { decision } = await quota.reserve({ subject: 'u', operation: 'chat' })
    if (decision === undefined || decision.allowed) throw new Error('admitted')
    expect(refusalHeaders(decision)).toEqual({ 'Retry-After': '1', 'X-Quota-Reset': '2026-08-06T14:06:27.000Z' })
    expect(rateLimitHeaders(decision).RateLimit).toBe('"running";r=0')
    expect(quotaExceededBody(decision).msg).toBe(
      'Too many requests at once: at most 2 can run at the same time. Try again when one has finished.',
    )
    expect(quotaExceededBody(decision, { locale: 'zh-CN' }).msg).toBe(
      '并发请求过多：最多同时进行 2 个。请在其中一个完成后重试。',
    )
    const { limits } = quotaStatusBody(await quota.status('u'))
    const shown = Object.values(limits).map(({ held, startedAt, resetAt }) => [
      held,
      startedAt === null,
      resetAt === null,
    ])
    expect(shown).toEqual([
      [2, false, false],
      [2, false, false],
      [2, true, true],
    ])
  })

  it('a response says that waiting won’t help where a concurrency limit is 0', async () => {
    const quota = engine()
    await quota.settings.update({ limits: { running: 0 } })
    const { decision } = await quota.reserve({ subject: 'u', operation: 'chat' })
    if (decision === undefined || decision.allowed) throw new Error('admitted')
    expect(decision.retryable).toBe(false)
    expect(quotaExceededBody(decision).msg).toBe('Too many requests at once: at most 0 can run at the same time.')
    expect(quotaExceededBody(decision, { locale: 'zh-CN' }).msg).toBe('并发请求过多：最多同时进行 0 个。')
  })

  it('a response leaves out shadowed limits', async () => {
    const quota = engine()
    await quota.settings.update({ shadow: { month: true, running: true } })
    const decision = await quota.consume({ subject: 'u', operation: 'write' })
    expect(rateLimitHeaders(decision).RateLimit).toBe('"perHour";r=99;t=3600')
    expect(Object.keys(quotaStatusBody(await quota.status('u')).limits)).toEqual(['perHour'])
  })

  it('a window has no members of other kinds of limits', async () => {
    const quota = engine()
    await quota.consume({ subject: 'u', operation: 'write' })
    expect(JSON.stringify(quotaStatusBody(await quota.status('u')).limits.perHour)).toBe(
      '{"title":"user","unit":"requests","limit":100,"used":1,"remaining":99,"startedAt":"2026-08-06T14:06:26.000Z","resetAt":"2026-08-06T15:06:26.000Z"}',
    )
  })
})

it('X-RateLimit-Reset of a refusal is the instant of Retry-After, even if the bucket is full later', () => {
  const quota = createQuota({ limits: { calls: { by: 'user', limit: 10, per: '10s', burst: 10 } }, clock })
  quota.consumeSync({ subject: 'u', cost: 10 })
  const refused = quota.consumeSync({ subject: 'u', cost: 1 })
  expect(quotaHeaders(refused, { legacyHeaders: true })).toMatchObject({
    'Retry-After': '1',
    'X-RateLimit-Remaining': '0',
    'X-RateLimit-Reset': String(NOW / 1_000 + 1),
  })
})

it('header fields have lengths and instants rounded up to whole seconds', () => {
  const quota = createQuota({ limits: { calls: { by: 'user', limit: 1, per: '1500ms' } }, clock })
  const decision = quota.consumeSync({ subject: 'u' })
  expect(quotaHeaders(decision, { standardHeaders: 'draft-11', legacyHeaders: true })).toMatchObject({
    'RateLimit-Policy': '"calls";q=1;w=2',
    RateLimit: '"calls";r=0;t=2',
    'X-RateLimit-Reset': String(NOW / 1_000 + 2),
  })
})

it('the rest of a concurrency limit isn’t changed by what comes back', async () => {
  const { decision } = await engine().reserve({ subject: 'u', operation: 'chat', ttlMs: 60_000 })
  expect(rateLimitFields(decision!, 'all', -1)?.limit).toContain('"running";r=1')
})
