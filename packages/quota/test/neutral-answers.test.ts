import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { chineseText } from '../src/http/neutral/chinese.ts'
import { englishText } from '../src/http/neutral/neutral-answers.ts'
import type { RefusalFacts } from '../src/http/texts.ts'
import { httpMeter, neutralAnswers, quotaExceededBody, quotaHeaders } from '../src/http.ts'
import { createQuota, definePolicy, type Policy, type QuotaRequest, type RefusedDecision } from '../src/index.ts'
import { scoreGatewayAnswers } from '../src/score-gateway.ts'
import { START, testClock } from './support.ts'

const LIMIT: RefusalFacts = {
  kind: 'rolling',
  name: 'api',
  lengthMs: 900_000,
  limit: 3,
  burst: undefined,
  requested: 1,
  isBlocked: false,
  retryable: true,
  retryAfterSeconds: 12 * 60,
  resetAt: START + 720_000,
  owner: 'caller',
  category: undefined,
  unit: 'requests',
  timeZone: 'UTC',
}
const HOUR = { lengthMs: 3_600_000 }
const MONEY = { unit: 'usd', format: { currency: 'USD', scale: 6 } }
const DECEMBER = { resetAt: Date.UTC(2026, 11, 1), kind: 'calendar', lengthMs: 30 * 86_400_000 } as const

/** The text for each kind of limit. */
const TEXTS: readonly (readonly [facts: Partial<RefusalFacts>, english: string, chinese: string])[] = [
  [
    {},
    'Limit reached: 3 requests per 15 minutes. Try again in 12 minutes.',
    '已达上限：每 15 分钟 3 次请求。请在 12 分钟后重试。',
  ],
  [
    { ...HOUR, owner: { name: 'team' }, limit: 500, retryAfterSeconds: 1_200 },
    "Your team's limit is reached: 500 requests per hour. Try again in 20 minutes.",
    '您的团队已达上限：每小时 500 次请求。请在 20 分钟后重试。',
  ],
  [
    { ...HOUR, owner: { name: 'Team 7' }, limit: 500, retryAfterSeconds: 1_200 },
    "Your Team 7's limit is reached: 500 requests per hour. Try again in 20 minutes.",
    '您的 Team 7 已达上限：每小时 500 次请求。请在 20 分钟后重试。',
  ],
  [
    { ...HOUR, owner: 'service', limit: 5_000, retryAfterSeconds: 180 },
    "This service's limit is reached: 5,000 requests per hour. Try again in 3 minutes.",
    '服务已达总上限：每小时 5,000 次请求。请在 3 分钟后重试。',
  ],
  [
    { kind: 'concurrency', lengthMs: null, limit: 5, retryAfterSeconds: 1 },
    'Too many requests at once: at most 5 can run at the same time. Try again when one has finished.',
    '并发请求过多：最多同时进行 5 个。请在其中一个完成后重试。',
  ],
  [
    { kind: 'concurrency', lengthMs: null, limit: 5, owner: { name: 'team' } },
    'Too many requests at once for your team: at most 5 can run at the same time. Try again when one has finished.',
    '您的团队并发请求过多：最多同时进行 5 个。请在其中一个完成后重试。',
  ],
  [
    { ...HOUR, unit: 'tokens', limit: 200, requested: 500, retryable: false },
    'This request needs 500 tokens, more than the limit of 200 per hour.',
    '此请求需要 500 个 token，超过每小时 200 个的上限。',
  ],
  [
    { ...HOUR, unit: 'tokens', limit: 200, requested: 500, retryable: false, owner: 'service' },
    "This request needs 500 tokens, more than this service's limit of 200 per hour.",
    '此请求需要 500 个 token，超过服务每小时 200 个的总上限。',
  ],
  [
    { ...HOUR, ...MONEY, limit: 200_000, requested: 5_000_000, retryable: false, owner: { name: 'team' } },
    "This request needs $5.00, more than your team's limit of $0.20 per hour.",
    '此请求需要 5.00 美元，超过您的团队每小时 0.20 美元的上限。',
  ],
  [
    { lengthMs: 60_000, unit: 'tokens', limit: 200_000, retryAfterSeconds: 38 },
    'Limit reached: 200,000 tokens per minute. Try again in 38 seconds.',
    '已达上限：每分钟 200,000 个 token。请在 38 秒后重试。',
  ],
  [
    { ...DECEMBER, ...MONEY, limit: 50_000_000 },
    'Limit reached: $50.00 per month. Resets on 1 December 2026, 00:00 (UTC).',
    '已达上限：每月 50.00 美元。将于 2026 年 12 月 1 日 00:00（UTC）重置。',
  ],
  [
    { ...DECEMBER, limit: 1, timeZone: 'Asia/Tokyo', resetAt: DECEMBER.resetAt + 1 },
    'Limit reached: 1 request per month. Resets on 1 December 2026, 09:01 (Asia/Tokyo).',
    '已达上限：每月 1 次请求。将于 2026 年 12 月 1 日 09:01（Asia/Tokyo）重置。',
  ],
  [
    { category: 'write', retryAfterSeconds: 1 },
    'Limit reached: 3 write requests per 15 minutes. Try again in 1 second.',
    '已达上限：每 15 分钟 3 次写入请求。请在 1 秒后重试。',
  ],
  [
    { category: 'chat', unit: 'tokens', limit: 1, retryAfterSeconds: 3_600 },
    'Limit reached: 1 chat token per 15 minutes. Try again in 1 hour.',
    '已达上限：每 15 分钟 1 个 chat token。请在 1 小时后重试。',
  ],
  [
    { lengthMs: 60_000, limit: 100, burst: 20, kind: 'bucket', retryAfterSeconds: 3 },
    'Limit reached: 100 requests per minute, in bursts of 20. Try again in 3 seconds.',
    '已达上限：每分钟 100 次请求，突发最多 20 次。请在 3 秒后重试。',
  ],
  [
    { ...HOUR, ...MONEY, limit: 200_000, burst: 50_000, kind: 'bucket', retryAfterSeconds: 90 },
    'Limit reached: $0.20 per hour, in bursts of $0.05. Try again in 2 minutes.',
    '已达上限：每小时 0.20 美元，突发最多 0.05 美元。请在 2 分钟后重试。',
  ],
  [
    { ...HOUR, unit: 'tokens', limit: 200, burst: 50, requested: 60, retryable: false, owner: { name: 'team' } },
    "This request needs 60 tokens, more than your team's limit of 50 in a burst (200 per hour).",
    '此请求需要 60 个 token，超过您的团队单次突发 50 个的上限（每小时 200 个）。',
  ],
  [
    { ...HOUR, limit: 3, requested: 5, retryable: false },
    'This request counts as 5 requests, more than the limit of 3 per hour.',
    '此请求计为 5 次请求，超过每小时 3 次的上限。',
  ],
  [{ ...HOUR, limit: 0, retryable: false }, 'Limit reached: 0 requests per hour.', '已达上限：每小时 0 次请求。'],
]

describe('the text of a refusal', () => {
  it.each(TEXTS)('the text for %j is as expected in English and Chinese', (facts, english, chinese) => {
    expect(englishText({ ...LIMIT, ...facts }, undefined)).toBe(english)
    expect(chineseText({ ...LIMIT, ...facts }, undefined)).toBe(chinese)
  })

  it.each([
    [1, '1 second', '1 秒'],
    [59, '59 seconds', '59 秒'],
    [60, '1 minute', '1 分钟'],
    [61, '2 minutes', '2 分钟'],
    [3_541, '1 hour', '1 小时'],
    [3_660, '1 hour and 1 minute', '1 小时 1 分钟'],
    [7_140, '1 hour and 59 minutes', '1 小时 59 分钟'],
    [86_400, '1 day', '1 天'],
    [90_001, '1 day and 2 hours', '1 天 2 小时'],
    [30 * 86_400, '30 days', '30 天'],
  ])('the text describes %i seconds in words', (retryAfterSeconds, english, chinese) => {
    expect(englishText({ ...LIMIT, retryAfterSeconds }, undefined)).toContain(`Try again in ${english}.`)
    expect(chineseText({ ...LIMIT, retryAfterSeconds }, undefined)).toContain(`请在 ${chinese}后重试。`)
  })

  it.each([
    ['hour', 3_600_000],
    ['day', 23 * 3_600_000],
    ['day', 25 * 3_600_000],
    ['week', 7 * 86_400_000 - 3_600_000],
    ['month', 28 * 86_400_000],
    ['year', 366 * 86_400_000],
  ])('the text describes a calendar period: %s', (unit, lengthMs) => {
    expect(englishText({ ...LIMIT, kind: 'calendar', lengthMs }, undefined)).toContain(`per ${unit}. Resets on`)
  })

  it.each([
    ['per 90 minutes', 5_400_000],
    ['per day', 86_400_000],
    ['per 7 days', 7 * 86_400_000],
    ['per 1.5 seconds', 1_500],
  ])('the text describes a length: %s', (text, lengthMs) => {
    expect(englishText({ ...LIMIT, lengthMs }, undefined)).toContain(text)
  })

  it('the text has a support address where the policy has one', () => {
    expect(englishText(LIMIT, 'https://example.com/limits')).toMatch(
      /12 minutes\. For a higher limit, see https:\/\/example\.com\/limits\.$/,
    )
    expect(chineseText(LIMIT, 'https://example.com/limits')).toMatch(
      /重试。如需更高上限，请访问 https:\/\/example\.com\/limits 。$/,
    )
  })
})

async function refusedBy(policy: Policy, request: QuotaRequest): Promise<RefusedDecision> {
  const quota = createQuota({ policy, clock: testClock(), calendar: luxonCalendar() })
  for (;;) {
    const { decision } = await quota.reserve({ ...request, ttlMs: 60_000 })
    if (decision?.allowed === false) return decision
  }
}

/** @param forAll what everybody together may write */
function layersOf(forAll: number, operations: object = {}) {
  return definePolicy({
    limits: {
      reads: { by: 'user', limit: 2, per: '1h', for: 'read' },
      writes: { by: 'user', limit: 9, per: '1h', for: 'write' },
      teamWrites: { by: 'team', limit: 2, per: '1h', for: 'write' },
      allWrites: { shared: 'everybody', limit: forAll, per: '1h', for: 'write' },
    },
    operations: { list: { category: 'read' }, save: { category: 'write' }, ...operations },
  })
}

const layers = layersOf(9)
const subject = { user: 'u', team: 't' }

describe('answers to refusals under a custom policy', () => {
  it('answers leave out the category when a limit counts everything', async () => {
    const clock = testClock()
    const quota = createQuota({ limits: { api: { by: 'user', limit: 3, per: '15m' } }, clock })
    for (let time = 0; time < 3; time++) await quota.consume({ subject: 'u' })
    clock.at += 180_000
    const decision = await quota.consume({ subject: 'u' })
    if (decision.allowed) throw new Error('expected a refusal')
    expect(quotaExceededBody(decision)).toEqual({
      error: 'quota_exceeded',
      msg: 'Limit reached: 3 requests per 15 minutes. Try again in 12 minutes.',
      retryAfterSeconds: 720,
      retryable: true,
      quota: {
        name: 'api',
        title: 'user',
        unit: 'requests',
        limit: 3,
        used: 3,
        requested: 1,
        resetAt: '2026-08-06T14:21:26.000Z',
      },
    })
    expect(Object.keys(quotaHeaders(decision))).toEqual(['Retry-After', 'X-Quota-Reset'])
  })

  it('answers say whose limit it is, and of which category', async () => {
    const own = quotaExceededBody(await refusedBy(layers, { subject, operation: 'list' }))
    expect(own.msg).toMatch(/^Limit reached: 2 read requests per hour\./)
    expect(own.quota).toMatchObject({ name: 'reads', title: 'user' })
    const ofTeam = quotaExceededBody(await refusedBy(layers, { subject, operation: 'save' }))
    expect(ofTeam.msg).toMatch(/^Your team's limit is reached: 2 write requests per hour\./)
    expect(ofTeam.quota).toMatchObject({ name: 'teamWrites', title: 'team' })
    const ofAll = quotaExceededBody(await refusedBy(layersOf(1), { subject, operation: 'save' }))
    expect(ofAll.msg).toMatch(/^This service's limit is reached: 1 write request per hour\./)
  })

  it('answers name what waiting doesn’t help', async () => {
    const decision = await refusedBy(layers, { subject, operation: 'save', cost: 3 })
    expect(quotaExceededBody(decision).msg).toBe(
      "This request counts as 3 write requests, more than your team's limit of 2 per hour.",
    )
  })

  it('answers can be made from a copied decision', async () => {
    const decision = await refusedBy(layers, { subject, operation: 'save' })
    const copy = JSON.parse(JSON.stringify(decision)) as RefusedDecision
    expect(quotaExceededBody(copy).msg).toMatch(/^Limit reached: 2 requests per hour\./)
    expect(quotaExceededBody(copy, { policy: layers })).toEqual(quotaExceededBody(decision))
    expect(quotaHeaders(copy, { standardHeaders: 'draft-10' })).toEqual(
      quotaHeaders(decision, { standardHeaders: 'draft-10' }),
    )
  })

  it('every caller of the answers functions gets the policy’s answers', async () => {
    const answers = neutralAnswers({ supportUrl: 'https://example.com' })
    const policy = { ...layers, answers }
    const decision = await refusedBy(policy, { subject, operation: 'list' })
    expect(quotaExceededBody(decision).msg).toMatch(/see https:\/\/example\.com\.$/)
    const quota = createQuota({ policy })
    const meter = httpMeter({ quota })
    const admission = await meter.admit({ method: 'GET', operation: 'list', subject, cost: 3 })
    expect(admission).toMatchObject({ status: 429, body: { msg: expect.stringContaining('see https://example.com.') } })
    expect(JSON.parse(JSON.stringify(policy))).not.toHaveProperty('answers')
  })

  it('invalid answers options are rejected', () => {
    expect(() => createQuota({ policy: { ...layers, answers: {} as never } })).toThrow(
      /answers: expected a function, for example neutralAnswers/,
    )
    expect(() => neutralAnswers({ supportUrl: 'nowhere' })).toThrow(/supportUrl: expected an address, got "nowhere"/)
  })
})

describe('problem details', () => {
  it('problem details have the draft’s type, the refusing limits and the members of the body', async () => {
    const quota = createQuota({ policy: layers, clock: testClock() })
    const meter = httpMeter({ quota, problemDetails: true })
    const admission = await meter.admit({ method: 'GET', operation: 'save', subject, cost: 3 })
    if (admission.kind !== 'answer' || admission.status !== 429) throw new Error('expected a refusal')
    expect(admission.contentType).toBe('application/problem+json; charset=utf-8')
    const { quota: refusing } = admission.body
    expect(admission.content).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Request cannot be satisfied as assigned quota has been exceeded',
      status: 429,
      detail: admission.body.msg,
      'violated-policies': ['teamWrites'],
      retryAfterSeconds: null,
      retryable: false,
      quota: refusing,
    })
  })

  it('problem details of a 401 have its status', async () => {
    const meter = httpMeter({ quota: createQuota({ policy: layers }), problemDetails: true })
    const admission = await meter.admit({ method: 'GET', operation: 'save', subject: null })
    expect(admission).toMatchObject({
      status: 401,
      body: { error: 'unauthorized', msg: 'Authentication required.' },
      content: { type: 'about:blank', title: 'Unauthorized', status: 401, detail: 'Authentication required.' },
    })
  })
})

it('a refusal that no wait helps has no Retry-After, unless its specification wants one', async () => {
  const quota = createQuota({ policy: layers, clock: testClock() })
  const request = () => ({ method: 'GET', operation: 'save', subject, cost: 3 }) as const
  const neutral = await httpMeter({ quota }).admit(request())
  if (neutral.kind !== 'answer') throw new Error(neutral.kind)
  expect(neutral.body).toMatchObject({ retryable: false, retryAfterSeconds: null })
  expect(Object.keys(neutral.headers)).toEqual(['X-Quota-Reset', 'Cache-Control'])
  const specified = await httpMeter({ quota, answers: scoreGatewayAnswers() }).admit(request())
  if (specified.kind !== 'answer') throw new Error(specified.kind)
  expect(specified.headers['Retry-After']).toBe('3600')
  expect(Object.keys(specified.body)).toEqual(['error', 'msg', 'retryAfterSeconds', 'quota'])
})
