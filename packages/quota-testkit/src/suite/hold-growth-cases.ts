import assert from 'node:assert/strict'
import { definePolicy } from '@scoregw/quota'
import { windowCell } from '@scoregw/quota/internal'
import { abilityCase, enginesOn } from './abilities.ts'
import { holdCase, holdCaseWith } from './hold-cases.ts'
import { HOLD_MS, HoldProbe, MINUTE_MS } from './hold-probe.ts'
import type { ContextCase } from './old-case.ts'
import { HOUR_MS, ONE_WINDOW, PERSONAL, SITE, SIX_WINDOWS, type TwoPeriods, throwsCode, tokenCells } from './probe.ts'

const UNLIMITED = definePolicy({
  limits: {
    own: { by: 'personal', limit: 'unlimited', per: '1h' },
    all: { shared: 'site', limit: 'unlimited', per: '1h' },
  },
  operations: { work: {} },
})

const LONG = { ttlMs: 20 * HOUR_MS } as const

/** Cases about open holds that grow. */
export const HOLD_GROWTH_CASES: readonly ContextCase[] = [
  abilityCase('engine: a hold grows to 2^53 - 1 and no further', 'holds', async (context) => {
    const most = Number.MAX_SAFE_INTEGER
    const [quota, other] = enginesOn(context, UNLIMITED)
    const hold = await quota.reserve({ subject: 'u', operation: 'work', cost: most - 1, ttlMs: HOLD_MS })
    assert.ok(hold.status === 'reserved')
    assert.equal((await hold.add(1)).allowed, true)
    for (const each of [hold, await other.resume(hold.token ?? '')]) {
      await throwsCode(() => each.add(1), 'invalid_cost')
      await throwsCode(() => each.add(most), 'invalid_cost')
    }
    assert.deepEqual(await hold.commit(1), { charged: 1, uncharged: 0 })
    assert.equal((await quota.holds.sweep()).open, 0)
  }),
  holdCase('tokens of a newer opening go back only to that opening', async ({ store, advance }) => {
    const probe = new HoldProbe(store, SIX_WINDOWS, 20)
    const { now } = await probe.held('a', 4, LONG)
    await advance(HOUR_MS)
    const { states } = await probe.grow('a', 3)
    assert.deepEqual(states.slice(0, 6), [now + HOUR_MS, 3, now, 7, now, 7])
    await probe.admitted(5)
    // Refunds 2, in each window to the newest charge.
    assert.deepEqual(await probe.committed('a', { actual: 5 }), ['settled', 5, 0, 7])
    assert.deepEqual((await probe.used()).slice(0, 3), [6, 10, 10])
  }),
  holdCase('a free hold opens no window until it grows', async ({ probe, advance }) => {
    const { now, states } = await probe.held('a', 0)
    assert.deepEqual([...states], [-1, 0])
    assert.deepEqual(await probe.states(), [-1, 0])
    await advance(5)
    assert.deepEqual([...(await probe.grow('a', 3)).states], [now + 5, 3])
    await advance(HOLD_MS)
    await probe.sweep()
    assert.deepEqual(await probe.states(), [now + 5, 0])
  }),
  holdCase('concurrent growths succeed up to the room', async ({ probe, store, peer }) => {
    await probe.held('a', 1)
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) => probe.grow('a', 2, { store: n % 2 ? peer : store })),
    )
    assert.equal(all.filter(({ outcome }) => outcome === 'held').length, 4)
    assert.deepEqual(await probe.committed('a', { actual: 0 }), ['settled', 0, 0, 9])
    assert.deepEqual(await probe.used(), [0])
  }),
  holdCaseWith('revisions')(
    'a growth under other settings is stale and charges nothing',
    async ({ store, storeRevision }) => {
      // Uses a shared layer, because a store may keep the revision next to its row.
      const probe = new HoldProbe(store, { ...ONE_WINDOW, layers: [PERSONAL, SITE] }, 10)
      await storeRevision('two')
      await probe.held('a', 2, { settingsRevision: 'two' })
      const reply = await probe.grow('a', 1, { settingsRevision: 'one' })
      assert.deepEqual([reply.outcome, reply.settingsRevision], ['stale', 'two'])
      assert.deepEqual(await probe.used(), [2, 2])
      assert.equal((await probe.grow('a', 1, { settingsRevision: 'two' })).outcome, 'held')
      assert.equal((await probe.hold('b', 1, { settingsRevision: 'one' })).outcome, 'stale')
      assert.deepEqual(await probe.committed('a', { settingsRevision: 'one' }), ['settled', 3, 0, 3])
    },
  ),
  abilityCase(
    'holds: a hold of calendar windows grows in the current period',
    ['holds', 'calendar'],
    async (context) => {
      const { store, clock, advance } = context
      const cells = tokenCells(windowCell({ label: 'month', every: 'month', timeZone: 'UTC' }))
      const now = clock.now()
      const period: TwoPeriods = [now - MINUTE_MS, now + MINUTE_MS, now + HOUR_MS]
      const probe = new HoldProbe(store, { ...ONE_WINDOW, cells }, 10, period)
      await probe.held('a', 6, LONG)
      assert.equal((await probe.grow('a', 5)).outcome, 'refused')
      await advance(MINUTE_MS)
      assert.deepEqual([...(await probe.grow('a', 5)).states], [now + MINUTE_MS, 5])
      const stale = { period: [now, now + 1, now + 2] as const }
      const reply = await probe.grow('a', 1, stale)
      assert.deepEqual([reply.outcome, [...reply.states]], ['stale', []])
      const over = await probe.settleHold('a', 'committed', { actual: 12, overrun: 'charge', maxOverrun: 5, ...stale })
      assert.equal(over.outcome, 'stale')
      assert.deepEqual(await probe.states(), [now + MINUTE_MS, 5])
      assert.deepEqual(await probe.committed('a', { actual: 12, overrun: 'charge', maxOverrun: 5 }), [
        'settled',
        12,
        0,
        11,
      ])
      assert.deepEqual(await probe.states(), [now + MINUTE_MS, 6])
    },
  ),
]
