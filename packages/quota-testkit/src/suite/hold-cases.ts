import assert from 'node:assert/strict'
import type { ConformanceCase } from './harness.ts'
import { HOUR_MS, ROWS } from './limits.ts'
import { HOLD_MS, Probe, shows, type Terms } from './probe.ts'
import { casesOn, needing, type Play, type Scene } from './scene.ts'

type Look = (scene: Scene, terms: Terms) => Promise<unknown>

/** Everything that reports a hold, and what it returns while the hold is open. After that, it is `expired`. */
const LOOKS: Readonly<Record<string, readonly [look: Look, open: string]>> = {
  'an extension': [async ({ extend }, terms) => (await extend('a', 1, terms)).outcome, 'held'],
  'a growth': [async ({ grow }, terms) => (await grow('a', 1, terms)).outcome, 'held'],
  'a commit': [async ({ settle }, terms) => (await settle('a', 'committed', terms)).outcome, 'settled'],
  'a repeated reservation': [async ({ hold }, terms) => (await hold('a', 4, terms)).outcome, 'admitted'],
}

function untilItsEnd(look: Look, open: string): Play {
  return async (scene) => {
    const { held, used, isUsed, advance } = scene
    const [one, other] = [{ subject: 'u' }, { subject: 'v' }]
    for (const each of [one, other]) await held('a', 4, each)
    await advance(HOLD_MS - 1)
    assert.equal(await look(scene, one), open)
    assert.notDeepEqual(await used(one), { own: 0 })
    // The other one is only checked after its expiry, before any sweep.
    await advance(1)
    assert.equal(await look(scene, other), 'expired')
    await isUsed(0, other)
  }
}

const LOOK_CASES = Object.entries(LOOKS).map(([what, [look, open]]) => {
  return [`${what} is possible until 1 ms before the end and ends the hold at it`, untilItsEnd(look, open)] as const
})

/** Cases about the end of holds: when they expire, what is refunded, and what changes the expiry. */
const END_CASES = casesOn(
  { about: 'holds: ', needs: ['holds'] },
  {
    async 'a hold ends at its exact millisecond and gives its tokens back to their windows'(scene) {
      const { held, admit, sweep, isAt, open, advance } = scene
      const { now } = await held('a', 7)
      await admit(2)
      await advance(HOLD_MS - 1)
      assert.deepEqual(await sweep(), [])
      await isAt([now, 9])
      assert.equal(await open(), 1)
      await advance(1)
      const end = { owner: 'u', fingerprint: 'read:1', costs: { tokens: 7 }, endsAt: now + HOLD_MS }
      assert.deepEqual(await sweep(), [end])
      await isAt([now, 2])
      assert.equal(await open(), 0)
      assert.deepEqual(await sweep(), [])
    },
    ...Object.fromEntries(LOOK_CASES),
    async 'a hold is ended once, whoever sweeps, and others keep their tokens'(scene) {
      const { held, admit, sweep, isUsed, store, peer, advance } = scene
      await held('a', 3)
      await held('b', 3, { ttlMs: HOUR_MS / 2 })
      await advance(HOLD_MS)
      const swept = await Promise.all([store, peer, store, peer].map(sweep))
      assert.equal(swept.flat().length, 1)
      await isUsed(3)
      await admit(7)
      assert.deepEqual([...(await sweep(store)), ...(await sweep(peer))], [])
      await isUsed(10)
    },
    async 'many holds that end at one instant all end'({ held, sweep, open, isUsed, advance }) {
      const subjects = Array.from({ length: 25 }, (_, n) => `u${n}`)
      await Promise.all(
        Array.from({ length: 250 }, (_, n) => held(`h${n}`, 1, { maxHolds: 1_000, subject: `u${n % 25}` })),
      )
      await advance(HOLD_MS)
      assert.equal((await sweep()).length, 250)
      assert.equal(await open(), 0)
      for (const subject of subjects) await isUsed(0, { subject })
    },
    'a clock that steps back reopens no ended hold': needing('clock-steps', async (scene) => {
      const { held, admit, sweep, isUsed, advance, stepClock } = scene
      await held('a', 4)
      await advance(HOLD_MS)
      await sweep()
      await stepClock(-30_000)
      for (const [look] of Object.values(LOOKS)) assert.equal(await look(scene, {}), 'expired')
      await admit(6)
      await advance(30_000)
      assert.deepEqual(await sweep(), [])
      await isUsed(6)
    }),
    "a clock that steps back doesn't move the ends of open holds": needing('clock-steps', async (scene) => {
      const { held, extend, sweep, isUsed, advance, stepClock, begin } = scene
      await held('a', 4)
      await stepClock(-3_000)
      await advance(HOLD_MS)
      assert.deepEqual(await sweep(), [])
      assert.equal((await extend('a', 1)).endsAt, begin + HOLD_MS)
      await advance(3_000)
      assert.equal((await sweep()).length, 1)
      await isUsed(0)
    }),
    async 'a growth in a newer opening goes back to it, and no earlier charge with it'(scene) {
      const { held, grow, admit, released, isUsed, advance } = scene
      await held('a', 4, { ttlMs: 20 * HOUR_MS })
      await advance(HOUR_MS)
      await grow('a', 3)
      await admit(5)
      await isUsed(8)
      assert.equal(await released('a'), 'settled')
      await isUsed(5)
    },
    async 'a free hold opens no window until it grows'({ held, grow, sweep, isAt, advance, begin }) {
      shows(await held('a', 0), [-1, 0])
      await advance(5)
      shows(await grow('a', 3), [begin + 5, 3])
      await advance(HOLD_MS)
      await sweep()
      await isAt([begin + 5, 0])
    },
    async 'concurrent growths succeed up to the room'({ held, grow, committed, isUsed, store, peer }) {
      await held('a', 1)
      const all = await Promise.all(Array.from({ length: 12 }, (_, n) => grow('a', 2, { store: n % 2 ? peer : store })))
      assert.equal(all.filter(({ outcome }) => outcome === 'held').length, 4)
      assert.deepEqual(await committed('a', { actual: 0 }), ['settled', 0, 0, 9])
      await isUsed(0)
    },
  },
)

const [KEEP_MS, OPEN_MS] = [2 * HOUR_MS, HOUR_MS / 2]

/** Cases about holds: their owners, how many an owner may have, how long they are remembered, and lists. */
const OWNER_CASES = casesOn(
  { about: 'holds: ', needs: ['holds'] },
  {
    async 'requests of one tick are decided in order: holds, ids and plain ones'({ admit, take, hold, capabilities }) {
      await admit(1)
      const named = (n: number): Terms => (capabilities.includes('ids') ? { id: `id ${n}` } : {})
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, n) => {
          if (n % 3 === 0) return take(1)
          return n % 3 === 1 ? hold(`hold ${n}`, 1) : take(1, named(n))
        }),
      )
      const admitted = replies.flatMap(({ outcome }, n) => (outcome === 'admitted' ? [n] : []))
      assert.deepEqual(admitted, [0, 1, 2, 3, 4, 5, 6, 7, 8])
    },
    async 'one of two processes with one id gets the hold, and the other a duplicate'(scene) {
      const { hold, isUsed, open, peer } = scene
      const replies = await Promise.all([hold('a', 6), hold('a', 6, { nonce: 'another', store: peer }), hold('a', 6)])
      // Either process may be first.
      const [one, other, again] = replies.map(({ outcome }) => outcome)
      assert.deepEqual([one, other].sort(), ['admitted', 'duplicate'])
      assert.equal(again, one)
      await isUsed(6)
      assert.equal(await open(), 1)
    },
    async "a subject's maximum of holds covers all its limits and no other subject's"({ store, advance }) {
      const { held, hold, admit, committed, isUsed, sweep } = new Probe(store, ROWS, 100)
      const most = { maxHolds: 3 } as const
      const isTooMany = async (id: string) => {
        const reply = await hold(id, 1, most)
        assert.deepEqual([reply.outcome, [...reply.states]], ['too_many_holds', []])
      }
      for (const [n, id] of ['a', 'b', 'c'].entries())
        await held(id, 1, { ...most, layers: [n % 2 ? 'user' : 'user/writes', 'site'], ttlMs: (n + 1) * 1_000 })
      await isTooMany('d')
      await held('a', 1, most)
      await held('a', 1, { ...most, subject: 'v' })
      await admit(1)
      await isUsed({ own: 2, writes: 3, all: 5 })
      await committed('c')
      await held('e', 1, most)
      await isTooMany('f')
      await advance(1_000)
      await sweep()
      await held('f', 1, most)
      await isTooMany('d')
      await held('d', 1, { maxHolds: 4 })
    },
    async "a hold's record is kept for its time after the end"({ held, hold, committed, released, advance }) {
      const keep = { idTtlMs: KEEP_MS, ttlMs: OPEN_MS }
      for (const id of ['a', 'b', 'c']) await held(id, 1, keep)
      await advance(OPEN_MS - 1)
      await committed('a', keep)
      await released('b', keep)
      await advance(KEEP_MS - 1)
      assert.equal((await hold('a', 1, { ...keep, nonce: 'another' })).outcome, 'duplicate')
      assert.deepEqual(await committed('a', keep), ['settled', 1, 0, 1])
      assert.equal((await hold('b', 1, keep)).outcome, 'cancelled')
      await advance(1)
      assert.equal((await hold('c', 1, keep)).outcome, 'expired')
    },
    async "a hold's record is kept as long as the hold is open"(scene) {
      const { held, hold, extend, committed, sweep, isUsed, advance } = scene
      const brief = { idTtlMs: 1_000, ttlMs: 10 * HOUR_MS }
      await held('a', 4, brief)
      for (let hour = 0; hour < 9; hour++) {
        await advance(HOUR_MS)
        await sweep()
        assert.equal((await hold('a', 4, { ...brief, nonce: 'another' })).outcome, 'duplicate')
      }
      assert.equal((await extend('a', 20 * HOUR_MS, brief)).outcome, 'held')
      await advance(15 * HOUR_MS)
      const over = { ...brief, actual: 6, overrun: 'charge', maxOverrun: 2 } as const
      assert.deepEqual(await committed('a', over), ['settled', 6, 0, 4])
      await isUsed(2)
    },
    async 'open holds are listed with all their values, the earliest end first'({ store, advance }) {
      const { held, grow, admit, committed, list, sweep } = new Probe(store, ROWS, 100)
      const write = { nonce: 'n', fingerprint: 'write:5' }
      const late = await held('late', 5, { ...write, layers: ['user/writes'], ttlMs: HOUR_MS })
      await advance(10)
      const soon = await held('soon', 3, { layers: ['user', 'site'] })
      await held('gone', 2)
      await held('ended', 2, { ttlMs: 1_000 })
      await held('soon', 7, { subject: 'v' })
      await admit(1)
      await committed('gone')
      await grow('soon', 4, { layers: ['user', 'site'] })
      await advance(1_000)
      const due = [
        {
          id: 'soon',
          ...{ nonce: 'nonce-a', fingerprint: 'read:1', costs: { tokens: 7 } },
          ...{ takenAt: soon.now, endsAt: soon.now + HOLD_MS, charged: [soon.now, 7, -1, 0, -1, 0] },
        },
        {
          ...{ id: 'late', ...write, costs: { tokens: 5 } },
          ...{ takenAt: late.now, endsAt: late.now + HOUR_MS, charged: [-1, 0, late.now, 5, -1, 0] },
        },
      ]
      const plain = (holds: Awaited<ReturnType<typeof list>>) =>
        holds.map((hold) => ({ ...hold, charged: [...hold.charged] }))
      assert.deepEqual(plain(await list()), due, 'without what has expired')
      await sweep()
      assert.deepEqual(plain(await list()), due)
      assert.deepEqual(await list({ subject: 'nobody' }), [])
      const [theirs, ...more] = await list({ subject: 'v' })
      assert.deepEqual([theirs?.costs.tokens, more], [7, []])
    },
  },
)

/** Cases about holds that nobody has settled yet. */
export const HOLD_CASES: readonly ConformanceCase[] = [...END_CASES, ...OWNER_CASES]
