import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, definePolicy } from '@scoregw/quota'
import { waitingQueue } from '@scoregw/quota/waiting'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type PostgresStore, postgresStore } from '../src/index.ts'
import { ONE, SCHEMA, take } from './support/counting.ts'
import { TestDatabase } from './support/database.ts'
import { apart } from './support/schemas.ts'

describe.runIf(postgresTests)('the order of takes on PostgreSQL', () => {
  const database = new TestDatabase()

  function store(): PostgresStore {
    const made = postgresStore({ pool: database.pool({ max: 2 }), deadlineMs: 5_000 })
    onTestFinished(() => made.close())
    return made
  }

  it('takes of one tick are decided in order, if a shared layer applies to some of them alone', async () => {
    const counters = store().open(apart(SCHEMA, 'bypass'))
    for (const _ of [1, 2]) await take(counters, 'first')
    const taken = (subject: string, layers: readonly number[]) => {
      const quotas = { layers, limits: [1e9, 4] }
      return counters.take({ subject, set: 0, quotas, costs: ONE })
    }
    const replies = await Promise.all([taken('a', [0, 1]), taken('b', [1]), taken('c', [0, 1])])
    expect(replies.map(({ outcome }) => outcome)).toEqual(['admitted', 'admitted', 'refused'])
  })

  it('waiting requests keep their order, whether they are holds, have ids or neither', async () => {
    const policy = definePolicy({
      limits: {
        hourly: { by: 'user', limit: 1_000, per: '1h' },
        all: { shared: 'all', limit: 42, per: '1h' },
      },
      operations: { call: {} },
    })
    const quota = createQuota({ policy, store: store(), logger: false })
    onTestFinished(() => quota.close())
    const queue = waitingQueue(quota)
    const call = { operation: 'call', expectGiveBacks: true } as const
    // Charges of 3 each take all of it, and some requests have shown the usual way that there is one.
    const charges = await Promise.all(
      Array.from({ length: 14 }, (_, n) => quota.reserve({ subject: `u${n}`, operation: 'call', cost: 3 })),
    )
    const admitted: number[] = []
    const waiting = Array.from({ length: 40 }, async (_, n) => {
      const form = [{}, { ttlMs: 60_000 }, {}, { id: `id ${n}` }][n % 4]
      const { status } = await queue.reserve({ ...call, ...form, subject: `w${n}` })
      if (status === 'reserved') admitted.push(n)
    })
    for (const [round, charge] of charges.entries()) {
      await charge.cancel()
      const most = Math.min(40, 3 * (round + 1))
      await expect.poll(() => admitted.length, { timeout: 20_000, interval: 5 }).toBe(most)
      expect([...admitted].sort((a, b) => a - b)).toEqual(Array.from({ length: most }, (_, n) => n))
    }
    await Promise.all(waiting)
  })
})
