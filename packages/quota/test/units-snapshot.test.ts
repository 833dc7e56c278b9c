import { describe, expect, it } from 'vitest'
import { createQuota, definePolicy, memoryStore } from '../src/index.ts'
import { asAnotherProcess, testClock } from './support.ts'
import { SUBJECT, unitsPolicy } from './units-policy.ts'

/** Money alone. */
const budgeted = definePolicy({
  units: ['microusd'],
  windows: [{ label: 'budget', per: '30d' }],
  categories: ['chat'],
  layers: [{ name: 'user' }],
  operations: { buy: { category: 'chat', cost: 1 } },
  base: { user: { chat: { budget: 10 } } },
})

function made(policy = unitsPolicy, clock = testClock(), store = memoryStore({ clock })) {
  const quota = createQuota({ policy, clock, store, thresholds: [] })
  /** What each window of the user has used, by its label. */
  const used = () => {
    const windows = quota.statusSync(SUBJECT).windows.chat!.filter(({ layer }) => layer === 'user')
    return Object.fromEntries(windows.map((each) => [each.window, each.used]))
  }
  return { clock, store, quota, used }
}

describe('snapshots of several units', () => {
  it('a snapshot restores counters and holds by unit name, in any order of units', async () => {
    const one = made()
    one.quota.consumeSync({ subject: SUBJECT, operation: 'complete', cost: { tokens: 30 } })
    const held = one.quota.reserveSync({ subject: SUBJECT, operation: 'complete', ttlMs: 30_000 })
    if (held.status !== 'reserved') throw new Error(held.status)
    const before = { '1m': 2, 'tokens-1m': 2_030, budget: 18_000, running: 0 }
    expect(one.used()).toEqual(before)

    // A store whose rows begin with the budget, which is the last of the snapshot's.
    const store = memoryStore({ clock: one.clock })
    createQuota({ policy: budgeted, clock: one.clock, store: asAnotherProcess(store) }).consumeSync({
      subject: 'bob',
      operation: 'buy',
    })
    const units = [...unitsPolicy.units!].reverse()
    const other = made({ ...unitsPolicy, units }, one.clock, store)
    for (const part of JSON.parse(JSON.stringify([...one.store.snapshot()])) as unknown[]) other.store.restore(part)
    expect(other.used()).toEqual(before)
    const [listed] = await other.quota.holds.list(SUBJECT)
    expect(listed).toMatchObject({ cost: { requests: 1, tokens: 2_000, microusd: 9_000 } })
    const resumed = await other.quota.resume(held.token!)
    expect((await resumed.commit({ tokens: 7, microusd: 8_000 })).charged).toEqual({
      requests: 1,
      tokens: 7,
      microusd: 8_000,
    })
    expect(other.used()).toEqual({ '1m': 2, 'tokens-1m': 37, budget: 17_000, running: 0 })
  })

  it('a restored hold of a lost process gives its tokens back when it expires', async () => {
    const one = made()
    one.quota.reserveSync({ subject: SUBJECT, operation: 'agent', cost: { microusd: 5 }, ttlMs: 30_000 })
    const parts = [...one.store.snapshot()]
    const other = made(undefined, one.clock)
    for (const part of parts) other.store.restore(part)
    one.clock.at += 29_999
    await other.quota.holds.sweep()
    expect(other.used()).toEqual({ '1m': 1, 'tokens-1m': 1_000, budget: 5, running: 1 })
    one.clock.at += 1
    await other.quota.holds.sweep()
    expect(other.used()).toEqual({ '1m': 0, 'tokens-1m': 0, budget: 0, running: 0 })
  })
})
