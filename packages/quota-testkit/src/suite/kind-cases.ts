import assert from 'node:assert/strict'
import { windowCell } from '@scoregw/quota/internal'
import type { TakeReply } from '@scoregw/quota/store'
import type { ConformanceCase } from './harness.ts'
import { type Kind, SLOTS_KIND, WINDOWS } from './kinds.ts'
import { DAY_MS, HOUR_MS, type Limits, SECOND_MS, SITE, USER } from './limits.ts'
import { Probe, type Shown, shows, type Terms } from './probe.ts'
import { casesWith, needing, type Plays, type Scene } from './scene.ts'

const ROOM = 10

/** A kind on the stage: ten in its own unit, from when the scene begins. */
interface KindScene extends Scene {
  readonly kind: Kind
  /** When the limit opens if it is charged now, and when all of it is back. */
  readonly startedAt: number
  readonly endsAt: number
  /** Terms of a request, with more. */
  terms(more?: Terms): Terms
  /** Requests one, in its own way: a token, or a hold with a slot. */
  one(more?: Terms): Promise<Shown<TakeReply>>
  /** Charges an amount: in one request, or in a hold for each slot. */
  fill(amount: number, more?: Terms): Promise<void>
  /** Asserts that one more is refused, and that the refusal changes nothing. */
  isFull(more?: Terms): Promise<void>
  /** Asserts the state: `-1`, `0` while nothing is charged. Of slots, only how many are taken. */
  is(startedAt: number, used: number, why?: string): Promise<void>
  /** Advances the clock to an instant. */
  until(instant: number): Promise<void>
}

let holds = 0

function sceneOf(scene: Scene, kind: Kind, limits = kind.limits): KindScene {
  const { store, clock, advance, begin } = scene
  const probe = new Probe(store, limits, ROOM)
  const [startedAt, endsAt] = kind.opening(begin)
  const isSlots = kind === SLOTS_KIND
  const terms = (more: Terms = {}): Terms => ({ ...kind.terms(begin), ...more })
  const slot = (more: Terms) => probe.hold(`slot ${holds++}`, 1, { slot: true, ttlMs: endsAt - begin, ...terms(more) })
  const one = (more: Terms = {}) => (isSlots ? slot(more) : probe.take(kind.amount(1), terms(more)))
  return {
    ...{ ...scene, ...probe, kind, startedAt, endsAt, terms, one },
    async fill(amount, more = {}) {
      if (!isSlots) return void (await probe.admit(kind.amount(amount), terms(more)))
      for (let taken = 0; taken < amount; taken++) assert.equal((await slot(more)).outcome, 'admitted')
    },
    async isFull(more) {
      const before = await probe.read(terms())
      assert.equal((await one(more)).outcome, 'refused')
      assert.deepEqual((await probe.read(terms())).states, before.states)
    },
    async is(start, used, why) {
      if (isSlots) await probe.isUsed(used, terms(), why)
      else await probe.isAt([start, used], terms(), why)
    },
    until: (instant) => Promise.resolve(advance(instant - clock.now())),
  }
}

/** What every kind of limit does. Each is a case for each kind, slots too. */
const OF_ALL: Plays<KindScene> = {
  async 'admits up to its limit and not one more, and a refusal changes nothing'(scene) {
    const { fill, isFull, is, startedAt } = scene
    await isFull({ limits: 0 })
    await is(-1, 0)
    await fill(9)
    await is(startedAt, 9)
    await fill(1)
    for (let again = 0; again < 3; again++) await isFull()
    await is(startedAt, 10)
  },
  async 'is the limit of each request, whether raised, lowered or none'({ fill, isFull, is, startedAt }) {
    await fill(10)
    await fill(10, { limits: 20 })
    await isFull({ limits: 5 })
    await fill(30, { limits: Number.POSITIVE_INFINITY })
    await is(startedAt, 50)
    await isFull({ limits: 0 })
  },
  async 'has as much for concurrent requests of two processes as there is'({ one, store, peer, is, startedAt }) {
    const replies = await Promise.all(Array.from({ length: 15 }, (_, n) => one({ store: n % 2 ? store : peer })))
    assert.equal(replies.filter(({ outcome }) => outcome === 'admitted').length, ROOM)
    await is(startedAt, ROOM)
  },
  async 'is charged with a window of another label in every layer, or in none'(scene) {
    const { kind } = scene
    const other = windowCell(
      { label: '2h', lengthMs: 2 * HOUR_MS },
      kind.cell.unit === 'slots' ? 'tokens' : kind.cell.unit,
    )
    const both = { own: [USER, kind.cell], ownOther: [USER, other] } as const
    // Slots of a shared layer are an ability of their own.
    const shared = kind === SLOTS_KIND ? {} : { all: [SITE, kind.cell] as const }
    const limits = { ...both, ...shared, allOther: [SITE, other] } as const
    const { fill, isFull, isUsed, terms } = sceneOf(scene, kind, { units: kind.units, limits })
    await fill(4)
    await isUsed(4, terms())
    for (const full of Object.keys(limits)) await isFull({ limits: { [full]: 4 } })
    await fill(6)
    await isUsed(10, terms())
  },
  async 'goes on beside the writes of a policy without it, and is kept until it ends'(scene) {
    const { kind, fill, until, is, peer, startedAt, endsAt } = scene
    const unit = kind === SLOTS_KIND ? 'tokens' : kind.cell.unit
    const without: Limits = {
      units: kind.units,
      limits: { other: [USER, windowCell({ label: 'other', lengthMs: 700 * DAY_MS }, unit)] },
    }
    const other = new Probe(peer, without, 1_000)
    await fill(10)
    const taken = await other.admit(kind.amount(2))
    await other.reset()
    await until(endsAt - 1)
    await other.admit(kind.amount(3))
    await other.cancel(taken, kind.amount(2))
    await other.refuse(kind.amount(1_001))
    await is(startedAt, 10)
    await other.isUsed(3)
  },
  async 'is not charged by what costs nothing of its unit'({ fill, is, take, terms, kind, startedAt }) {
    const nothing = kind.amount(0)
    await take(nothing, terms())
    await is(-1, 0)
    await fill(10)
    assert.equal((await take(nothing, terms({ limits: 5 }))).outcome, 'admitted')
    await is(startedAt, 10)
  },
  'has a row that is kept as long as it counts': needing('expiry', async ({ fill, keptForMs, begin, endsAt }) => {
    await fill(10)
    assert.ok((await keptForMs({ layer: 'user', key: 'u' })) >= endsAt - begin)
  }),
}

/** What every kind of window does. */
const OF_WINDOWS: Plays<KindScene> = {
  async 'opens with the first admission, and all of it is back at its exact millisecond'(scene) {
    const { fill, one, is, until, startedAt, endsAt, terms, kind, admit, refuse } = scene
    await is(-1, 0)
    await fill(10)
    await until(endsAt - 1)
    shows(await refuse(kind.amount(10), terms()), [startedAt, 10])
    await until(endsAt)
    shows(await admit(kind.amount(10), terms()), [endsAt, 10], 'what was not used is not carried over')
    assert.equal((await one()).outcome, 'refused')
  },
  async 'opens later after each reset in one millisecond'({ fill, isFull, is, reset, startedAt }) {
    await reset()
    await fill(10)
    for (let again = 1; again <= 3; again++) {
      await reset()
      await reset()
      await is(-1, 0)
      await fill(10)
      await is(startedAt + again, 10)
      await isFull()
    }
  },
  async 'takes refunds into the opening that they came from'(scene) {
    const { admit, refuse, cancel, is, until, startedAt, endsAt, advance, kind, terms } = scene
    const { amount } = kind
    const early = await admit(amount(6), terms())
    await advance(SECOND_MS)
    await cancel(await admit(amount(3), terms()), amount(3))
    await is(startedAt, 6)
    await until(endsAt)
    await admit(amount(5), terms())
    await cancel(early, amount(6))
    await is(endsAt, 5)
    await refuse(amount(6), terms())
  },
  async 'takes no refund after a reset, even in one millisecond'({ admit, cancel, is, reset, startedAt, kind, terms }) {
    const early = await admit(kind.amount(6), terms())
    await reset()
    await cancel(early, kind.amount(6))
    await is(-1, 0, 'a refund opens nothing')
    const later = await admit(kind.amount(7), terms())
    await cancel(early, kind.amount(6))
    await is(startedAt + 1, 7)
    await cancel(later, kind.amount(7))
    await is(startedAt + 1, 0)
  },
  async 'never falls below 0, and is open when all was refunded'({
    admit,
    isFull,
    fill,
    cancel,
    is,
    startedAt,
    ...scene
  }) {
    const { kind, terms } = scene
    const reply = await admit(kind.amount(3), terms())
    for (let again = 0; again < 2; again++) await cancel(reply, kind.amount(3))
    await is(startedAt, 0)
    await fill(10)
    await isFull()
  },
  'is charged once under an id, and refunded once': needing('ids', async (scene) => {
    const { admit, cancel, kind, terms, is, startedAt, peer } = scene
    const first = await admit(kind.amount(4), terms({ id: 'a' }))
    await admit(kind.amount(5), terms())
    const again = await admit(kind.amount(4), terms({ id: 'a', store: peer }))
    assert.deepEqual(again.shown, first.shown, 'the first answer')
    await is(startedAt, 9)
    for (let times = 0; times < 2; times++) await cancel(first, kind.amount(4), { id: 'a' })
    await is(startedAt, 5)
  }),
  'stays as it is when the clock steps back, and moves to the present if it is more than 5 s ahead': needing(
    'clock-steps',
    async ({ admit, refuse, fill, is, until, advance, stepClock, clock, endsAt, kind, terms }) => {
      await until(endsAt)
      const [opened = 0] = (await admit(kind.amount(4), terms())).states
      await stepClock(-5_000)
      await is(opened, 4)
      shows(await admit(kind.amount(3), terms()), [opened, 7])
      await refuse(kind.amount(10), terms())
      await is(opened, 7)
      await stepClock(-1)
      const present = clock.now() + 1
      shows(await refuse(kind.amount(10), terms()), [present, 7], '1 ms after the instant')
      await advance(1)
      await is(present, 7, 'the refusal has moved it')
      await fill(3)
      await is(present, 10)
    },
  ),
  'gets back what a hold had at its end, and what a commit leaves of it': needing('holds', async (scene) => {
    const { held, grow, sweep, committed, isUsed, kind, terms, is, advance, startedAt } = scene
    const { amount } = kind
    await held('a', amount(6), terms({ ttlMs: SECOND_MS }))
    await held('b', amount(3), terms({ ttlMs: 10 * HOUR_MS }))
    await is(startedAt, 9)
    await advance(SECOND_MS)
    assert.equal((await sweep()).length, 1)
    await is(startedAt, 3)
    assert.equal((await grow('b', amount(8), terms())).outcome, 'refused')
    assert.equal((await grow('b', amount(5), terms())).outcome, 'held')
    await is(startedAt, 8)
    const [, charged] = await committed('b', terms({ actual: amount(2) }))
    assert.deepEqual(charged, amount(2))
    await isUsed(2, terms())
  }),
  'takes nothing of a hold that was charged before a reset': needing('holds', async (scene) => {
    const { held, reset, sweep, released, kind, terms, fill, is, advance, startedAt } = scene
    await held('a', kind.amount(4), terms({ ttlMs: SECOND_MS }))
    await held('b', kind.amount(2), terms())
    await reset()
    await fill(6)
    await advance(SECOND_MS)
    assert.equal((await sweep()).length, 1)
    await is(startedAt + 1, 6)
    assert.equal(await released('b', terms()), 'settled')
    await is(startedAt + 1, 6)
  }),
  'is charged for what a commit has above its hold, over the limit or as far as it fits': needing(
    ['holds', 'fit'],
    async ({ held, fill, committed, kind: { amount }, terms, is, startedAt }) => {
      const over = (overrun: 'charge' | 'fit' | 'refuse') =>
        terms({ overrun, actual: amount(9), maxOverrun: amount(6) })
      await held('a', amount(2), terms())
      await fill(4)
      assert.deepEqual(await committed('a', over('fit')), ['settled', amount(6), amount(3), amount(2)])
      await is(startedAt, 10)
      await held('b', amount(2), terms({ limits: 20 }))
      assert.equal((await committed('b', over('refuse')))[0], 'above')
      assert.deepEqual(await committed('b', over('charge')), ['settled', amount(8), amount(1), amount(2)])
      await is(startedAt, 18)
      await held('c', amount(0), terms())
      assert.deepEqual((await committed('c', over('fit')))[1], amount(0), 'already above')
    },
  ),
}

function casesOf(kind: Kind, plays: Plays<KindScene>): readonly ConformanceCase[] {
  return casesWith({ about: `${kind.name} `, needs: kind.needs }, plays, (scene, play) => play(sceneOf(scene, kind)))
}

/** Every scene with every kind of limit. */
export const KIND_CASES: readonly ConformanceCase[] = [
  ...[...WINDOWS, SLOTS_KIND].flatMap((kind) => casesOf(kind, OF_ALL)),
  ...WINDOWS.flatMap((kind) => casesOf(kind, OF_WINDOWS)),
]
