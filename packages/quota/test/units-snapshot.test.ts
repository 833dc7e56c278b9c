import { describe, expect, it } from 'vitest'
import { createQuota, definePolicy, memoryStore } from '../src/index.ts'
import { asAnotherProcess, testClock } from './support.ts'
import { SUBJECT, spent, unitsPolicy, usd } from './units-policy.ts'

/** Money alone. */
const budgeted = definePolicy({
  limits: { 'user-budget': { by: 'user', limit: usd.millionths(10), of: usd, per: '30d' } },
  operations: { buy: { cost: { usd: usd.millionths(1) } } },
})

function made(policy = unitsPolicy, clock = testClock(), store = memoryStore({ clock })) {
  const quota = createQuota({ policy, clock, store, thresholds: [] })
  /** How much of the user's limits is used. */
  const used = () => {
    const limits = Object.values(quota.statusSync(SUBJECT).limits).filter(({ by }) => by === 'user')
    return limits.map((each) => each.used)
  }
  return { clock, store, quota, used }
}

describe('snapshots of several units', () => {
  it('a snapshot restores counters and holds by unit name, in any order of units', async () => {
    const one = made()
    one.quota.consumeSync({ subject: SUBJECT, operation: 'complete', cost: { tokens: 30 } })
    const held = one.quota.reserveSync({ subject: SUBJECT, operation: 'complete', ttlMs: 30_000 })
    if (held.status !== 'reserved') throw new Error(held.status)
    const before = [2, 2_030, 18_000, 0]
    expect(one.used()).toEqual(before)

    // A store whose rows begin with the budget, which is the last of the snapshot's.
    const store = memoryStore({ clock: one.clock })
    createQuota({ policy: budgeted, clock: one.clock, store: asAnotherProcess(store) }).consumeSync({
      subject: 'bob',
      operation: 'buy',
    })
    const units = [...unitsPolicy.units].reverse()
    const other = made({ ...unitsPolicy, units }, one.clock, store)
    for (const part of JSON.parse(JSON.stringify([...one.store.snapshot()])) as unknown[]) other.store.restore(part)
    expect(other.used()).toEqual(before)
    const [listed] = await other.quota.holds.list(SUBJECT)
    expect(listed).toMatchObject({ cost: { requests: 1, tokens: 2_000, usd: 9_000 } })
    const resumed = await other.quota.resume(held.token!)
    expect((await resumed.commit(spent(7, 8_000))).charged).toEqual({
      requests: 1,
      tokens: 7,
      usd: 8_000,
    })
    expect(other.used()).toEqual([2, 37, 17_000, 0])
  })

  it('a restored hold of a lost process gives its tokens back when it expires', async () => {
    const one = made()
    one.quota.reserveSync({ subject: SUBJECT, operation: 'agent', cost: { usd: usd.millionths(5) }, ttlMs: 30_000 })
    const parts = [...one.store.snapshot()]
    const other = made(undefined, one.clock)
    for (const part of parts) other.store.restore(part)
    one.clock.at += 29_999
    await other.quota.holds.sweep()
    expect(other.used()).toEqual([1, 1_000, 5, 1])
    one.clock.at += 1
    await other.quota.holds.sweep()
    expect(other.used()).toEqual([0, 0, 0, 0])
  })
})
