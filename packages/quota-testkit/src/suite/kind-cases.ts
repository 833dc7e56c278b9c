import assert from 'node:assert/strict'
import { cellsIn, windowCell } from '@scoregw/quota/internal'
import type { TakeReply } from '@scoregw/quota/store'
import { abilityCase } from './abilities.ts'
import type { CaseContext, Need } from './harness.ts'
import { HoldProbe, type HoldProbeOptions } from './hold-probe.ts'
import { KINDS, type Kind } from './kinds.ts'
import type { ContextCase } from './old-case.ts'
import { HOUR_MS, idOf, PERSONAL, Probe, type ProbeOptions, SECOND_MS, SITE } from './probe.ts'
import type { Table } from './table.ts'

type SceneOptions = HoldProbeOptions & Pick<ProbeOptions, 'id'>

/** A kind on the stage: ten in its own unit, from when the scene begins. */
interface Scene extends CaseContext {
  readonly kind: Kind
  readonly probe: HoldProbe
  /** When the limit opens if it is charged now, and when all of it is back. */
  readonly startedAt: number
  readonly endsAt: number
  /** Terms of a request, with more. */
  terms(more?: SceneOptions): SceneOptions
  admit(amount: number, more?: SceneOptions): Promise<TakeReply>
  refuse(amount: number, more?: SceneOptions): Promise<TakeReply>
  cancel(reply: TakeReply, amount: number): Promise<void>
  /** Asserts the state: `-1`, `0` while nothing is charged. */
  is(startedAt: number, used: number, why?: string): Promise<void>
  /** Advances the clock to an instant. */
  until(instant: number): Promise<void>
}

const ROOM = 10

function sceneOf(context: CaseContext, kind: Kind, table = kind.table): Scene {
  const { store, clock, advance } = context
  const begin = clock.now()
  const probe = new HoldProbe(store, table, ROOM)
  const [startedAt, endsAt] = kind.opening(begin)
  const terms = (more: SceneOptions = {}): SceneOptions => ({ ...kind.terms(begin), ...more })
  return {
    ...{ ...context, kind, probe, startedAt, endsAt, terms },
    admit: (amount, more) => probe.admitted(kind.amount(amount), terms(more)),
    refuse: (amount, more) => probe.refused(kind.amount(amount), terms(more)),
    cancel: (reply, amount) => probe.cancel(reply, kind.amount(amount), terms()),
    is: async (start, used, why) => assert.deepEqual(await probe.states(terms()), [start, used], why),
    until: (instant) => Promise.resolve(advance(instant - clock.now())),
  }
}

type Play = (scene: Scene) => Promise<void>

/** What every kind of window does. Each is a case for each kind. */
const SCENES: Readonly<Record<string, readonly [needs: readonly Need[], play: Play]>> = {
  'admits up to its limit and not one more, and a refusal changes nothing': [
    [],
    async ({ admit, refuse, is, startedAt }) => {
      await refuse(11)
      await is(-1, 0)
      assert.deepEqual([...(await admit(9)).states], [startedAt, 9])
      assert.deepEqual([...(await refuse(2)).states], [startedAt, 9])
      await admit(1)
      for (let again = 0; again < 3; again++) await refuse(1)
      await is(startedAt, 10)
    },
  ],
  'opens with the first admission, and all of it is back at its exact millisecond': [
    [],
    async ({ admit, refuse, is, until, startedAt, endsAt }) => {
      await is(-1, 0)
      await admit(10)
      await until(endsAt - 1)
      assert.deepEqual([...(await refuse(10)).states], [startedAt, 10])
      await until(endsAt)
      assert.deepEqual([...(await admit(10)).states], [endsAt, 10], 'what was not used is not carried over')
      await refuse(1)
    },
  ],
  'is the limit of each request, whether raised, lowered or none': [
    [],
    async ({ admit, refuse, is, startedAt }) => {
      await admit(10)
      await admit(10, { limits: [20] })
      await refuse(1, { limits: [5] })
      await admit(80, { limits: [Number.POSITIVE_INFINITY] })
      await is(startedAt, 100)
      await refuse(1, { limits: [0] })
    },
  ],
  'opens later after each reset in one millisecond': [
    [],
    async ({ admit, refuse, is, probe, startedAt }) => {
      await probe.reset()
      await admit(10)
      for (let again = 1; again <= 3; again++) {
        await probe.reset()
        await probe.reset()
        await is(-1, 0)
        assert.deepEqual([...(await admit(10)).states], [startedAt + again, 10])
        await refuse(1)
      }
    },
  ],
  'takes refunds into the opening that they came from': [
    [],
    async ({ admit, refuse, cancel, is, until, startedAt, endsAt, advance }) => {
      const early = await admit(6)
      await advance(SECOND_MS)
      const late = await admit(3)
      await cancel(late, 3)
      await is(startedAt, 6)
      await until(endsAt)
      await admit(5)
      await cancel(early, 6)
      await is(endsAt, 5)
      await refuse(6)
    },
  ],
  'takes no refund after a reset, even in one millisecond': [
    [],
    async ({ admit, cancel, is, probe, startedAt }) => {
      const early = await admit(6)
      await probe.reset()
      await cancel(early, 6)
      await is(-1, 0, 'a refund opens nothing')
      const later = await admit(7)
      await cancel(early, 6)
      await is(startedAt + 1, 7)
      await cancel(later, 7)
      await is(startedAt + 1, 0)
    },
  ],
  'never falls below 0, and is open when all was refunded': [
    [],
    async ({ admit, refuse, cancel, is, startedAt }) => {
      const reply = await admit(3)
      await cancel(reply, 3)
      await cancel(reply, 3)
      await is(startedAt, 0)
      await admit(10)
      await refuse(1)
    },
  ],
  'is charged once under an id, and refunded once': [
    ['ids'],
    async ({ admit, cancel, probe, kind, terms, is, startedAt, peer }) => {
      const first = await admit(4, { id: idOf('a') })
      await admit(5)
      const again = await admit(4, { id: idOf('a'), store: peer })
      assert.deepEqual([...again.states], [...first.states], 'the first answer')
      await is(startedAt, 9)
      for (let times = 0; times < 2; times++) await probe.cancel(first, kind.amount(4), { ...terms(), id: idOf('a') })
      await is(startedAt, 5)
      await cancel(first, 0)
    },
  ],
  'has as much for concurrent requests of two processes as there is': [
    [],
    async ({ probe, kind, terms, store, peer, is, startedAt }) => {
      const replies = await Promise.all(
        Array.from({ length: 15 }, (_, n) => probe.take(kind.amount(1), terms({ store: n % 2 ? store : peer }))),
      )
      assert.equal(replies.filter(({ outcome }) => outcome === 'admitted').length, ROOM)
      await is(startedAt, ROOM)
    },
  ],
  'is charged with a window of another label in every layer, or in none': [
    [],
    async (scene) => {
      const { kind } = scene
      const other = windowCell({ label: '2h', lengthMs: 2 * HOUR_MS }, kind.cell.unit)
      const cells = cellsIn(kind.table.units, [kind.cell, other])
      const { probe, admit, refuse, terms } = sceneOf(scene, kind, { ...kind.table, cells, layers: [PERSONAL, SITE] })
      await admit(4)
      const before = await probe.states(terms())
      assert.deepEqual(
        before.filter((_, at) => at % 2 === 1),
        [4, 4, 4, 4],
      )
      for (const full of [0, 1, 2, 3]) {
        const { states } = await refuse(4, { limits: [ROOM, ROOM, ROOM, ROOM].with(full, 7) })
        assert.deepEqual([...states], before)
      }
      assert.deepEqual(await probe.states(terms()), before)
      await admit(6)
    },
  ],
  'goes on beside the writes of a policy without it, and is kept until it ends': [
    [],
    async ({ admit, refuse, until, is, peer, startedAt, endsAt, kind }) => {
      const without: Table = { ...kind.table, cells: cellsIn(kind.table.units, [otherThan(kind)]) }
      const other = new Probe(peer, without, 1_000)
      await admit(10)
      const taken = await other.admitted(kind.amount(2))
      await other.reset()
      await until(endsAt - 1)
      await other.admitted(kind.amount(3))
      await other.cancel(taken, kind.amount(2))
      await other.refused(kind.amount(1_001))
      await is(startedAt, 10)
      await refuse(10)
      assert.equal((await other.used()).join(), '3')
    },
  ],
  'is not charged by what costs nothing of its unit': [
    [],
    async ({ admit, is, probe, terms, kind, startedAt }) => {
      const nothing = kind.amount(0)
      await probe.take(nothing, terms())
      await is(-1, 0)
      await admit(10)
      await probe.admitted(nothing, terms({ limits: [5] }))
      await is(startedAt, 10)
    },
  ],
  'stays as it is when the clock steps back, and moves to the present if it is more than 5 s ahead': [
    ['clock-steps'],
    async ({ admit, refuse, is, until, advance, stepClock, clock, endsAt }) => {
      await until(endsAt)
      const opened = (await admit(4)).states[0] ?? 0
      await stepClock(-5_000)
      await is(opened, 4)
      assert.deepEqual([...(await admit(3)).states], [opened, 7])
      await refuse(10)
      await is(opened, 7)
      await stepClock(-1)
      const present = clock.now() + 1
      assert.deepEqual([...(await refuse(10)).states], [present, 7], '1 ms after the instant')
      await advance(1)
      await is(present, 7, 'the refusal has moved it')
      assert.deepEqual([...(await admit(3)).states], [present, 10])
    },
  ],
  'gets back what a hold had at its end, and what a commit leaves of it': [
    ['holds'],
    async ({ probe, kind, terms, is, advance, startedAt }) => {
      const some = (amount: number) => kind.amount(amount)
      await probe.held('a', some(6), terms({ ttlMs: SECOND_MS }))
      await probe.held('b', some(3), terms({ ttlMs: 10 * HOUR_MS }))
      await is(startedAt, 9)
      await advance(SECOND_MS)
      assert.equal((await probe.sweep()).length, 1)
      await is(startedAt, 3)
      assert.equal((await probe.grow('b', some(8), terms())).outcome, 'refused')
      assert.equal((await probe.grow('b', some(5), terms())).outcome, 'held')
      await is(startedAt, 8)
      const [, charged] = await probe.committed('b', terms({ actual: some(2) }))
      assert.deepEqual([charged, await probe.used(terms())], [some(2), [2]])
    },
  ],
  'takes nothing of a hold that was charged before a reset': [
    ['holds'],
    async ({ probe, kind, terms, admit, is, advance, startedAt }) => {
      await probe.held('a', kind.amount(4), terms({ ttlMs: SECOND_MS }))
      await probe.held('b', kind.amount(2), terms())
      await probe.reset()
      await admit(6)
      await advance(SECOND_MS)
      assert.equal((await probe.sweep()).length, 1)
      await is(startedAt + 1, 6)
      assert.equal(await probe.released('b', terms()), 'settled')
      await is(startedAt + 1, 6)
    },
  ],
  'is charged for what a commit has above its hold, over the limit or as far as it fits': [
    ['holds', 'fit'],
    async ({ probe, kind, terms, is, startedAt }) => {
      const some = (amount: number) => kind.amount(amount)
      const over = (overrun: 'charge' | 'fit') => terms({ overrun, actual: some(9), maxOverrun: some(6) })
      await probe.held('a', some(2), terms())
      await probe.admitted(some(4), terms())
      assert.deepEqual(await probe.committed('a', over('fit')), ['settled', some(6), some(3), some(2)])
      await is(startedAt, 10)
      await probe.held('b', some(2), terms({ limits: [20] }))
      assert.equal((await probe.committed('b', { ...over('charge'), overrun: 'refuse' }))[0], 'above')
      assert.deepEqual(await probe.committed('b', over('charge')), ['settled', some(8), some(1), some(2)])
      await is(startedAt, 18)
    },
  ],
}

/** A window that no kind is. */
function otherThan({ cell }: Kind) {
  return windowCell({ label: 'other', lengthMs: 700 * 24 * HOUR_MS }, cell.unit)
}

/** Every scene with every kind of window. */
export const KIND_CASES: readonly ContextCase[] = KINDS.flatMap((kind) =>
  Object.entries(SCENES).map(([what, [needs, play]]) =>
    abilityCase(`${kind.name} ${what}`, [...kind.needs, ...needs], (context) => play(sceneOf(context, kind))),
  ),
)
