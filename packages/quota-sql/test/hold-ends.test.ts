import { createQuota } from '@scoregw/quota'
import { manualClock } from '@scoregw/quota-testkit'
import { expect, it, onTestFinished } from 'vitest'
import { quotaSchemaSql, sqliteStore } from '../src/index.ts'
import { connectTo } from './support/sqlite.ts'

/** An engine and a hold of everything that a user has, which lasts a second. */
async function held() {
  const database = connectTo(':memory:')
  database.exec(quotaSchemaSql({ dialect: 'sqlite' }))
  const clock = manualClock()
  const store = sqliteStore({ database, clock })
  const quota = createQuota({ limits: { hourly: { by: 'user', limit: 1, per: '1h' } }, store, clock })
  onTestFinished(async () => {
    await quota.close()
    database.close()
  })
  await quota.reserve({ subject: 'u', id: 'job', ttlMs: 1_000 })
  return { quota, clock }
}

it('the next hold has a place from the end of the one before', async () => {
  const { quota, clock } = await held()
  const next = { subject: 'u', id: 'next', ttlMs: 1_000 }
  clock.advance(999)
  expect((await quota.reserve(next)).allowed).toBe(false)
  clock.advance(1)
  expect((await quota.reserve(next)).allowed).toBe(true)
})

it('a hold is in the list until its last millisecond, and not at its end', async () => {
  const { quota, clock } = await held()
  clock.advance(999)
  expect(await quota.holds.list('u')).toHaveLength(1)
  clock.advance(1)
  expect(await quota.holds.list('u')).toEqual([])
})
