import assert from 'node:assert/strict'
import type { CaseContext } from './harness.ts'
import type { ContextCase } from './old-case.ts'
import { HOUR_MS, idOf, ONE_WINDOW, PERSONAL, Probe, rollingCells, SITE, SIX_WINDOWS, throwsCode } from './probe.ts'

/** Stores without ids must reject them with a typed error, and charge nothing. */
export async function refusesIds({ store }: CaseContext): Promise<void> {
  const probe = new Probe(store, ONE_WINDOW, 10)
  await throwsCode(() => probe.take(1, { id: idOf('attempt') }))
  assert.deepEqual(await probe.states(), [-1, 0])
}

export function idCase(name: string, run: (context: CaseContext) => Promise<void>): ContextCase {
  return { name, needs: 'ids', run, without: refusesIds }
}

/** Cases about reservation ids. */
export const ID_CASES: readonly ContextCase[] = [
  idCase('one of two processes with one id is admitted, and the other gets a duplicate', async ({ store, peer }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const replies = await Promise.all([
      probe.take(6, { id: idOf('attempt', 'a') }),
      probe.take(6, { id: idOf('attempt', 'b'), store: peer }),
    ])
    assert.deepEqual(replies.map(({ outcome }) => outcome).sort(), ['admitted', 'duplicate'])
    assert.deepEqual(await probe.used(), [6, 6, 6, 6, 6, 6])
  }),
  idCase("a refusal doesn't use up the id", async ({ store, advance }) => {
    const probe = new Probe(store, ONE_WINDOW, 5)
    await probe.admitted(5)
    await probe.refused(1, { id: idOf('attempt', 'a') })
    await probe.refused(1, { id: idOf('attempt', 'b', 'write:2') })
    await advance(HOUR_MS)
    await probe.admitted(1, { id: idOf('attempt', 'c') })
  }),
  idCase('a different request under a used or cancelled id is a conflict and charges nothing', async ({ store }) => {
    const probe = new Probe(store, ONE_WINDOW, 10)
    const reply = await probe.admitted(2, { id: idOf('attempt', 'a', 'read:2') })
    for (const nonce of ['a', 'b']) {
      const other = await probe.take(3, { id: idOf('attempt', nonce, 'read:3') })
      assert.equal(other.outcome, 'conflict')
    }
    assert.deepEqual(await probe.used(), [2])
    await probe.cancel(reply, 2, { id: idOf('attempt', 'a', 'read:2') })
    const late = await probe.take(3, { id: idOf('attempt', 'a', 'read:3') })
    assert.equal(late.outcome, 'conflict')
    assert.deepEqual(await probe.used(), [0])
  }),
  idCase('a cancel that overtakes its reserve keeps it from charging', async ({ store }) => {
    const probe = new Probe(store, ONE_WINDOW, 10)
    const id = idOf('attempt')
    await probe.cancel(undefined, 4, { id })
    const late = await probe.take(4, { id })
    assert.equal(late.outcome, 'cancelled')
    assert.deepEqual([...late.states], [])
    assert.deepEqual(await probe.states(), [-1, 0])
  }),
  idCase('a free request under an id is remembered and opens no window', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const id = idOf('attempt', 'a')
    const { states } = await probe.admitted(0, { id })
    assert.deepEqual([...states], [-1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0])
    assert.deepEqual(await probe.starts(), [-1, -1, -1, -1, -1, -1])
    await probe.admitted(0, { id })
    assert.equal((await probe.take(0, { id: idOf('attempt', 'b') })).outcome, 'duplicate')
    assert.equal((await probe.take(0, { id: idOf('attempt', 'b', 'other') })).outcome, 'conflict')
    assert.equal((await probe.take(4, { id: idOf('attempt', 'b') })).outcome, 'duplicate', 'the price rose since')
    assert.deepEqual(await probe.starts(), [-1, -1, -1, -1, -1, -1])
  }),
  idCase('a free request is never refused and changes no window', async ({ store, advance }) => {
    const probe = new Probe(store, ONE_WINDOW, 10)
    const { now } = await probe.admitted(10)
    await advance(1_000)
    const { states } = await probe.admitted(0, { id: idOf('attempt', 'a'), limits: [5] })
    assert.deepEqual([...states], [now, 10])
    await probe.cancel({ outcome: 'admitted', now, states }, 0, { id: idOf('attempt', 'a') })
    assert.equal((await probe.take(0, { id: idOf('attempt', 'b') })).outcome, 'cancelled')
    assert.equal((await probe.take(3, { id: idOf('second', 'a') })).outcome, 'refused')
    await probe.admitted(0, { id: idOf('second', 'b') })
    assert.equal((await probe.take(3, { id: idOf('second', 'a') })).outcome, 'duplicate', 'the price fell between')
    assert.deepEqual(await probe.states(), [now, 10])
  }),
  idCase('ids are separate for subjects and spellings', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 1_000)
    const all =
      'u|1 u1| u|1: u|:1 1:u| u|:attempt u:attempt| attempt:u| u:1|0 u:1:0|x u|1:0 u","1|2 u|1","2 u\u0000|1 u|\u00001'
    const pairs = `${all} u|A u|a u|__proto__ u|constructor`.split(' ').map((pair) => pair.split('|'))
    for (const [subject = '', text = ''] of pairs) {
      const id = `attempt${text}`
      await probe.admitted(1, { subject, id: idOf(id, `${subject}${text}`) })
    }
    assert.deepEqual(await probe.used({ layers: [1] }), [pairs.length, pairs.length, pairs.length])
  }),
  idCase('an id is the same whichever limits count it', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const first = await probe.admitted(4, { id: idOf('attempt', 'a') })
    assert.equal((await probe.take(4, { category: 1, id: idOf('attempt', 'b') })).outcome, 'duplicate')
    assert.equal((await probe.take(4, { category: 1, id: idOf('attempt', 'a', 'write:4') })).outcome, 'conflict')
    await probe.cancel(first, 4, { id: idOf('attempt', 'a') })
    assert.equal((await probe.take(4, { category: 1, id: idOf('attempt', 'b') })).outcome, 'cancelled')
    assert.deepEqual(await probe.used({ category: 1 }), [0, 0, 0, 0, 0, 0])
  }),
  idCase("an id belongs to the key in the first layer that isn't shared", async ({ store }) => {
    const layers = [SITE, PERSONAL, { name: 'team', scope: 'Team', shared: false }]
    const probe = new Probe(store, { ...SIX_WINDOWS, layers }, 1_000)
    for (const [personal, outcome] of [
      ['a', 'admitted'],
      ['b', 'admitted'],
      ['x', 'admitted'],
      ['a', 'duplicate'],
    ] as const) {
      for (const team of ['x', 'a', 'x:b']) {
        const subject = { personal, team }
        const expected = team === 'x' ? outcome : 'duplicate'
        const { outcome: real } = await probe.take(1, { subject, id: idOf('attempt', JSON.stringify([team, outcome])) })
        assert.equal(real, expected, JSON.stringify(subject))
      }
    }
    assert.deepEqual(await probe.used({ subject: { personal: 'q', team: 'x' }, layers: [0, 2] }), [3, 3, 3, 3, 3, 3])
  }),
  idCase('an id is remembered for its time after its last use, to the millisecond', async ({ store, advance }) => {
    const probe = new Probe(store, { ...ONE_WINDOW, cells: rollingCells({ label: '1d', lengthMs: 24 * HOUR_MS }) }, 100)
    const ttlMs = 600_000
    const a = idOf('attempt', 'a', 'read:1', ttlMs)
    const b = idOf('attempt', 'b', 'read:1', ttlMs)
    const first = await probe.admitted(3, { id: a })
    await advance(ttlMs - 1)
    assert.equal((await probe.take(3, { id: b })).outcome, 'duplicate')
    await probe.commit(first, 1, { id: a })
    await advance(ttlMs - 1)
    assert.equal((await probe.take(3, { id: b })).outcome, 'duplicate', 'kept anew since the commit')
    await advance(1)
    await probe.admitted(3, { id: b })
    assert.deepEqual(await probe.used(), [5])
    await probe.cancel(first, 3, { id: a })
    assert.deepEqual(await probe.used(), [5], 'the id is now held by another')
  }),
  idCase("a reservation can't be settled once its id's record has expired", async ({ store, advance }) => {
    const probe = new Probe(store, ONE_WINDOW, 100)
    const id = idOf('attempt', 'a', 'read:1', 60_000)
    const reply = await probe.admitted(3, { id })
    await advance(60_000)
    await probe.commit(reply, 3, { id })
    assert.deepEqual(await probe.used(), [3])
    await probe.cancel(reply, 3, { id })
    assert.deepEqual(await probe.used(), [3])
    assert.equal((await probe.take(3, { id })).outcome, 'cancelled')
  }),
  idCase("a refund under an id goes only to its reservation's windows", async ({ store, advance }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const id = idOf('attempt', 'a', 'read:4', 2 * HOUR_MS)
    const reply = await probe.admitted(4, { id })
    await advance(HOUR_MS)
    await probe.admitted(3)
    await probe.reset({ layers: [1] })
    await probe.admitted(1)
    await probe.cancel(reply, 4, { id })
    assert.deepEqual(await probe.used(), [4, 4, 4, 1, 1, 1])
  }),
]
