import assert from 'node:assert/strict'
import { windowCell } from '@scoregw/quota/internal'
import type { ConformanceCase } from './harness.ts'
import { DAY, HOUR, inEach, type Limits, MINUTE_MS, ROWS, SHARED, SITE, TEAM, USER, WRITES } from './limits.ts'
import { Probe } from './probe.ts'
import { casesOn, needing } from './scene.ts'

/** A used id in the hand of another holder. */
const AGAIN = { id: 'attempt', nonce: 'another' } as const
const ID = { id: 'attempt' } as const
const OTHER_USE = { fingerprint: 'write:2' } as const

/** The same subjects in a policy that has other windows, and more layers. */
const EDITED: Limits = inEach(
  [{ name: 'all', shared: true }, WRITES, USER, SITE],
  windowCell({ label: '10m', lengthMs: 10 * MINUTE_MS }),
  HOUR,
)

/** Cases about reservation ids. */
export const ID_CASES: readonly ConformanceCase[] = casesOn(
  { limits: SHARED, needs: ['ids'] },
  {
    async 'one of two processes with one id is admitted, and the other gets a duplicate'({ take, isUsed, peer }) {
      const replies = await Promise.all([take(6, ID), take(6, { ...AGAIN, store: peer })])
      assert.deepEqual(replies.map(({ outcome }) => outcome).sort(), ['admitted', 'duplicate'])
      await isUsed(6)
    },
    async 'a free request is never refused and changes no window'({ admit, take, refuse, cancel, isAt, advance }) {
      const { now } = await admit(10)
      await advance(1_000)
      const free = await admit(0, { ...ID, limits: 5 })
      await cancel(free, 0, ID)
      assert.equal((await take(0, AGAIN)).outcome, 'cancelled')
      await refuse(3, { id: 'second' })
      await admit(0, { id: 'second', nonce: 'another' })
      assert.equal((await take(3, { id: 'second' })).outcome, 'duplicate', 'the price fell between')
      await isAt([now, 10])
    },
    async 'ids are separate for subjects and spellings'({ admit, isUsed }) {
      const all =
        'u|1 u1| u|1: u|:1 1:u| u|:attempt u:attempt| attempt:u| u:1|0 u:1:0|x u|1:0 u","1|2 u|1","2 u\u0000|1 u|\u00001'
      const pairs = `${all} u|A u|a u|__proto__ u|constructor`.split(' ').map((pair) => pair.split('|'))
      for (const [subject = '', text = ''] of pairs)
        await admit(1, { subject, id: `attempt${text}`, nonce: `${subject}${text}`, limits: 1_000 })
      await isUsed(pairs.length, { layers: ['site'] })
    },
    'an id is the same whichever limits count it': needing('sets', async ({ store }) => {
      const sets = { reads: ['own', 'all'], writes: ['writes', 'all'] }
      const { admit, take, cancel, isUsed } = new Probe(store, { ...ROWS, sets })
      const first = await admit(4, { ...ID, set: 'reads' })
      assert.equal((await take(4, { ...AGAIN, set: 'writes' })).outcome, 'duplicate')
      assert.equal((await take(4, { ...ID, ...OTHER_USE, set: 'writes' })).outcome, 'conflict')
      await cancel(first, 4, { ...ID, set: 'reads' })
      assert.equal((await take(4, { ...AGAIN, set: 'writes' })).outcome, 'cancelled')
      await isUsed(0)
    }),
    async "an id belongs to the key in the first layer that isn't shared"({ store }) {
      const { take, isUsed } = new Probe(store, inEach([SITE, USER, TEAM], HOUR), 1_000)
      for (const [user, outcome] of [
        ['a', 'admitted'],
        ['b', 'admitted'],
        ['x', 'admitted'],
        ['a', 'duplicate'],
      ] as const) {
        for (const team of ['x', 'a', 'x:b']) {
          const subject = { user, team }
          const { outcome: real } = await take(1, { subject, ...ID, nonce: JSON.stringify([team, outcome]) })
          assert.equal(real, team === 'x' ? outcome : 'duplicate', JSON.stringify(subject))
        }
      }
      await isUsed(3, { subject: { user: 'q', team: 'x' }, layers: ['site', 'team'] })
    },
    async 'an id is remembered for its time after its last use, to the millisecond'({ store, advance }) {
      const { admit, take, commit, cancel, isUsed } = new Probe(store, inEach([USER], DAY), 100)
      const first = await admit(3, ID)
      await advance(599_999)
      assert.equal((await take(3, AGAIN)).outcome, 'duplicate')
      await commit(first, 1, ID)
      await advance(599_999)
      assert.equal((await take(3, AGAIN)).outcome, 'duplicate', 'kept anew since the commit')
      await advance(1)
      await admit(3, AGAIN)
      await isUsed(5)
      await cancel(first, 3, ID)
      await isUsed(5, {}, 'the id is now held by another')
    },
    async "a reservation can't be settled once its id's record has expired"({ admit, take, commit, cancel, ...scene }) {
      const id = { ...ID, idTtlMs: 60_000 }
      const reply = await admit(3, id)
      await scene.advance(60_000)
      await commit(reply, 3, id)
      await scene.isUsed(3)
      await cancel(reply, 3, id)
      await scene.isUsed(3)
      assert.equal((await take(3, id)).outcome, 'cancelled')
    },
    async 'a cancel prevents a later reserve from charging, also under another policy'({ take, cancel, isAt, peer }) {
      await new Probe(peer, EDITED).cancel(undefined, 3, ID)
      await cancel(undefined, 4, { id: 'other' })
      for (const id of ['attempt', 'other']) {
        const late = await take(3, { id })
        assert.deepEqual([late.outcome, [...late.states]], ['cancelled', []])
      }
      await isAt([-1, 0])
    },
  },
)
