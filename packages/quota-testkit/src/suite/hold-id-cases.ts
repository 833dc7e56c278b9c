import assert from 'node:assert/strict'
import { EDITED } from './edit-cases.ts'
import { holdCase } from './hold-cases.ts'
import { HOLD_MS, HoldProbe } from './hold-probe.ts'
import type { ContextCase } from './old-case.ts'
import { HOUR_MS, idOf, SIX_WINDOWS } from './probe.ts'

const ANOTHER = { nonce: 'another' } as const
const OTHER_USE = { fingerprint: 'hold write:2' } as const

/** Cases about holds: their owners, how many an owner may have, how long they are remembered, and notifications. */
export const HOLD_ID_CASES: readonly ContextCase[] = [
  holdCase('requests of one tick are decided in order: holds, ids and plain ones', async ({ probe }) => {
    await probe.admitted(1)
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) => {
        if (n % 3 === 0) return probe.take(1)
        return n % 3 === 1 ? probe.hold(`hold ${n}`, 1) : probe.take(1, { id: idOf(`id ${n}`) })
      }),
    )
    const admitted = replies.flatMap(({ outcome }, n) => (outcome === 'admitted' ? [n] : []))
    assert.deepEqual(admitted, [0, 1, 2, 3, 4, 5, 6, 7, 8])
  }),
  holdCase(
    'one of two processes with one id gets the hold, and the other a duplicate',
    async ({ probe, store, peer }) => {
      const replies = await Promise.all([
        probe.hold('a', 6),
        probe.hold('a', 6, { ...ANOTHER, store: peer }),
        probe.hold('a', 6, { store }),
      ])
      // Either process may be first.
      const [one, other, again] = replies.map(({ outcome }) => outcome)
      assert.deepEqual([one, other].sort(), ['admitted', 'duplicate'])
      assert.equal(again, one)
      assert.deepEqual([await probe.used(), await probe.open()], [[6], 1])
    },
  ),
  holdCase("a subject's maximum of holds covers all its limits and no other subject's", async ({ store, advance }) => {
    const probe = new HoldProbe(store, SIX_WINDOWS, 1_000)
    const most = { maxHolds: 3 } as const
    for (const [n, id] of ['a', 'b', 'c'].entries())
      await probe.held(id, 1, { ...most, category: n % 2, ttlMs: (n + 1) * 1_000 })
    const reply = await probe.hold('d', 1, most)
    assert.deepEqual([reply.outcome, [...reply.states]], ['too_many_holds', []])
    await probe.held('a', 1, most)
    await probe.held('a', 1, { ...most, subject: 'v' })
    await probe.admitted(1)
    assert.deepEqual((await probe.used())[0], 3)
    await probe.committed('c')
    await probe.held('e', 1, most)
    assert.equal((await probe.hold('f', 1, most)).outcome, 'too_many_holds')
    await advance(1_000)
    await probe.sweep()
    await probe.held('f', 1, most)
    assert.equal((await probe.hold('d', 1, most)).outcome, 'too_many_holds')
    await probe.held('d', 1, { maxHolds: 4 })
  }),
  holdCase("a hold's record is kept for its time after the end", async ({ probe, advance }) => {
    const keep = { idTtlMs: 2 * HOUR_MS, ttlMs: 30 * 60_000 } as const
    for (const id of ['a', 'b', 'c']) await probe.held(id, 1, keep)
    await advance(30 * 60_000 - 1)
    await probe.committed('a', keep)
    await probe.released('b', keep)
    await advance(2 * HOUR_MS - 1)
    assert.equal((await probe.hold('a', 1, { ...keep, ...ANOTHER })).outcome, 'duplicate')
    assert.deepEqual(await probe.committed('a', keep), ['settled', 1, 0, 1])
    assert.equal((await probe.hold('b', 1, keep)).outcome, 'cancelled')
    await advance(1)
    assert.equal((await probe.hold('c', 1, keep)).outcome, 'expired')
  }),
  holdCase("a hold's record is kept as long as the hold is open", async ({ probe, advance }) => {
    const brief = { idTtlMs: 1_000, ttlMs: 10 * HOUR_MS } as const
    await probe.held('a', 4, brief)
    for (let hour = 0; hour < 9; hour++) {
      await advance(HOUR_MS)
      await probe.sweep()
      assert.equal((await probe.hold('a', 4, { ...brief, ...ANOTHER })).outcome, 'duplicate')
    }
    assert.equal((await probe.extend('a', 20 * HOUR_MS, brief)).outcome, 'held')
    await advance(15 * HOUR_MS)
    assert.deepEqual(await probe.committed('a', { ...brief, actual: 6, overrun: 'charge', maxOverrun: 2 }), [
      'settled',
      6,
      0,
      4,
    ])
    assert.deepEqual(await probe.used(), [2])
  }),
  holdCase('open holds are listed with all their values, the earliest end first', async ({ store, advance }) => {
    const probe = new HoldProbe(store, SIX_WINDOWS, 1_000)
    const late = await probe.held('late', 5, { category: 1, ttlMs: HOUR_MS, fingerprint: 'hold write:5', nonce: 'n' })
    await advance(10)
    const soon = await probe.held('soon', 3)
    await probe.held('gone', 2)
    await probe.held('ended', 2, { ttlMs: 1_000 })
    await probe.held('soon', 7, { subject: 'v' })
    await probe.admitted(1)
    await probe.committed('gone')
    await probe.grow('soon', 4)
    await advance(1_000)
    await probe.sweep()
    const { holds } = await probe.list()
    const row = (start: number, tokens: number) => [start, tokens, start, tokens, start, tokens]
    const none = row(-1, 0)
    assert.deepEqual(
      holds.map((hold) => ({ ...hold, charged: [...hold.charged] })),
      [
        {
          id: 'soon',
          nonce: 'nonce-a',
          fingerprint: 'hold read:1',
          costs: { tokens: 7 },
          takenAt: soon.now,
          endsAt: soon.now + HOLD_MS,
          charged: [...row(soon.now, 7), ...none, ...none, ...none],
        },
        {
          id: 'late',
          nonce: 'n',
          fingerprint: 'hold write:5',
          costs: { tokens: 5 },
          takenAt: late.now,
          endsAt: late.now + HOUR_MS,
          charged: [...none, ...row(late.now, 5), ...none, ...none],
        },
      ],
    )
    assert.deepEqual(await probe.list({ subject: 'nobody' }).then((reply) => reply.holds), [])
    const [theirs, ...more] = (await probe.list({ subject: 'v' })).holds
    assert.deepEqual([theirs?.costs.tokens, more], [7, []])
  }),
  holdCase("expired holds aren't listed, even before a sweep", async ({ probe, advance }) => {
    await probe.held('a', 4)
    await probe.held('b', 4, { ttlMs: HOLD_MS + 1 })
    await advance(HOLD_MS)
    const { holds } = await probe.list()
    assert.deepEqual(
      holds.map(({ id }) => id),
      ['b'],
    )
  }),
  holdCase('two policies share a hold by the names of its layers', async ({ store, peer, advance }) => {
    const [before, after] = [new HoldProbe(store, SIX_WINDOWS, 100), new HoldProbe(peer, EDITED, 100)]
    const read = { category: 2 } as const
    await before.held('a', 4)
    await after.held('b', 3, read)
    await before.held('w', 1, { category: 1 })
    assert.equal((await after.hold('a', 4, { ...read, ...ANOTHER })).outcome, 'duplicate')
    assert.equal((await before.hold('b', 3, ANOTHER)).outcome, 'duplicate')
    assert.equal((await before.hold('b', 3, { ...ANOTHER, ...OTHER_USE })).outcome, 'conflict')
    for (const probe of [before, after])
      assert.deepEqual((await probe.list()).holds.map(({ id }) => id).sort(), ['a', 'b', 'w'])
    assert.equal((await after.extend('a', HOUR_MS, read)).outcome, 'held')
    assert.equal((await after.grow('a', 2, read)).outcome, 'held')
    assert.deepEqual(await before.used({ layers: [0] }), [4, 9, 9])
    assert.deepEqual(await after.used({ ...read, layers: [1] }), [5, 9, 9])
    assert.equal(await before.released('b'), 'settled')
    assert.deepEqual(await after.used({ ...read, layers: [0, 1] }), [2, 2, 2, 2, 6, 6])
    assert.equal(await after.released('a', read), 'settled')
    assert.deepEqual(await before.used(), [0, 0, 0, 0, 0, 0])
    await advance(HOLD_MS)
    assert.equal((await after.sweep()).length + (await before.sweep()).length, 1)
    assert.deepEqual(await before.used({ category: 1 }), [0, 0, 0, 0, 0, 0])
  }),
]
