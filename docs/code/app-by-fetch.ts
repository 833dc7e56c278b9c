import { createQuota } from '@scoregw/quota'
import { quotaFetch } from '@scoregw/quota-fetch'
import { manualClock } from '@scoregw/quota-testkit'
import { expect, test } from 'vitest'

test('a fetch handler answers 429 without a server', async () => {
  const clock = manualClock()
  const quota = createQuota({
    limits: { api: { by: 'user', limit: 1, per: '1h' } },
    clock,
  })
  const metered = quotaFetch({
    quota,
    subject: (request) => request.headers.get('x-user'),
  })
  const handler = metered(() => Response.json([871]))
  const send = () =>
    handler(
      new Request('http://localhost/', {
        headers: { 'x-user': 'ann' },
      }),
    )

  expect((await send()).status).toBe(200)
  const refused = await send()
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('3600')
  clock.advance(3_600_000)
  expect((await send()).status).toBe(200)
})
