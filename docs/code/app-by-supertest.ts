import { createQuota } from '@scoregw/quota'
import { manualClock } from '@scoregw/quota-testkit'
import request from 'supertest'
import { expect, test } from 'vitest'
import { createApp } from './app.ts'

/** An app with an empty memory store and a clock of its own. */
function setUp(limit: number) {
  const clock = manualClock()
  const quota = createQuota({
    limits: { api: { by: 'user', limit, per: '15m' } },
    clock,
  })
  const app = createApp(quota)
  const get = (path: string, user = 'ann') =>
    request(app).get(path).set('X-User', user)
  return { clock, quota, get }
}

test('answers 429 when the limit is used up', async () => {
  const { get } = setUp(2)
  await get('/scores').expect(200)
  await get('/scores').expect(200)

  const refused = await get('/scores').expect(429)
  expect(refused.headers['retry-after']).toBe('900')
  expect(refused.body).toMatchObject({
    error: 'quota_exceeded',
    quota: { name: 'api', limit: 2, used: 2, requested: 1 },
  })
  // Another user has a limit of their own.
  await get('/scores', 'bob').expect(200)
})

test('admits again when the window has ended', async () => {
  const { clock, get } = setUp(1)
  await get('/scores').expect(200)
  clock.advance(15 * 60_000 - 1)
  await get('/scores').expect(429)
  clock.advance(1)
  await get('/scores').expect(200)
})

test('charges successes only', async () => {
  const { get, quota } = setUp(1)
  await get('/missing').expect(404)
  const { limits } = await quota.status('ann')
  expect(limits.api).toMatchObject({ used: 0, limit: 1 })
})
