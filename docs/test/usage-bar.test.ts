import { createQuota } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'
import { describe, expect, it } from 'vitest'
import { relativeTime, usagesOf, usageText } from '../code/usage-bar.ts'

function served(standardHeaders: 'draft-10' | 'draft-11') {
  const quota = createQuota({
    limits: {
      perMinute: { by: 'user', limit: 5, per: '1m' },
      steady: { by: 'user', limit: 60, per: '1h', burst: 10 },
      'site:day': { shared: 'site', limit: 9_000, per: '1d' },
    },
    clock: { now: () => Date.UTC(2026, 7, 6) },
  })
  const metered = quotaFetch({ quota, subject: () => 'u42', standardHeaders, fields: 'all' })
  return metered(() => new Response('ok'))
}

describe('the usage bar', () => {
  it.each(['draft-10', 'draft-11'] as const)('reads every limit of the fields of %s', async (draft) => {
    const { headers } = await served(draft)(new Request('http://localhost/'))
    expect(usagesOf(headers)).toEqual([
      { name: 'perMinute', limit: 5, left: 4, resetsIn: 60 },
      { name: 'steady', limit: expect.any(Number), left: 9, resetsIn: 60 },
      { name: 'site:day', limit: 9_000, left: 8_999, resetsIn: 86_400 },
    ])
  })

  it('reads nothing from a response without fields', () => expect(usagesOf(new Headers())).toEqual([]))

  it.each([
    [1, 'in 1 second'],
    [59, 'in 59 seconds'],
    [61, 'in 2 minutes'],
    [900, 'in 15 minutes'],
    [3_600, 'in 1 hour'],
    [100_000, 'in 2 days'],
  ])('%s seconds are %s', (seconds, text) => expect(relativeTime(seconds, 'en')).toBe(text))

  it('says it in the language of the reader', () => {
    const usage = { name: 'perHour', limit: 12_000, left: 1_500, resetsIn: 900 }
    expect(usageText(usage, 'en')).toBe('1,500 / 12,000, in 15 minutes')
    expect(usageText(usage, 'de')).toBe('1.500 / 12.000, in 15 Minuten')
    expect(usageText({ ...usage, resetsIn: undefined }, 'en')).toBe('1,500 / 12,000')
  })
})
