import assert from 'node:assert/strict'
import type {
  AsyncHolds,
  Counters,
  Overrun,
  SettleHoldReply,
  SubjectKeys,
  SyncHolds,
  TakeReply,
} from '@scoregw/quota/store'
import { abilityCase, type CaseOf } from './abilities.ts'
import type { CaseContext, Need } from './harness.ts'
import type { ContextCase } from './old-case.ts'
import { idOf } from './probe.ts'
import { MIXED } from './table.ts'

/** The sets of {@link MIXED}: everything, tokens per hour, the user's, and tokens per day with requests. */
const [ALL, HOURS, USER, DAY] = [0, 1, 2, 3]
const EVERYTHING = MIXED.sets[0] ?? []
const [TOKENS, TOKENS_PER_DAY, SLOTS, TEAM, REQUESTS, SITE] = [0, 1, 2, 3, 4, 5]
const MANY = 100
const HOLD_MS = 60_000

/** A request. Costs are tokens, requests, and 1 for a slot. */
interface Terms {
  readonly subject?: SubjectKeys
  /** Indices of layers. Default: all */
  readonly layers?: readonly number[]
  /** Limits by position, where they aren't {@link MANY}. */
  readonly limits?: Readonly<Record<number, number>>
  readonly id?: string
}

const BOTH: SubjectKeys = { user: 'u', team: 't' }
const OWN: SubjectKeys = { user: 'u', team: null }

/** Calls on the counters of {@link MIXED}. */
class Mixed {
  readonly counters: Counters

  constructor({ store }: CaseContext) {
    this.counters = store.open(MIXED)
  }

  get holds(): SyncHolds | AsyncHolds {
    assert.ok(this.counters.holds)
    return this.counters.holds
  }

  async take(set: number, costs: readonly number[], terms: Terms = {}): Promise<TakeReply> {
    const { subject = BOTH, id } = terms
    return this.counters.take({ subject, set, quotas: quotasOf(terms), costs, id: id === undefined ? id : idOf(id) })
  }

  async hold(set: number, costs: readonly number[], terms: Terms = {}): Promise<TakeReply> {
    const { subject = BOTH, id = 'h' } = terms
    const hold = { ttlMs: HOLD_MS, maxHolds: 10 }
    return this.counters.take({ subject, set, quotas: quotasOf(terms), costs, id: idOf(id), hold })
  }

  /** Settles a hold. @param actual tokens and requests; `undefined`: it is cancelled */
  async settle(
    set: number,
    actual: readonly number[] | undefined,
    overrun: Overrun = 'charge',
    terms: Terms = {},
  ): Promise<SettleHoldReply> {
    const { subject = BOTH, id = 'h' } = terms
    const as = actual === undefined ? 'cancelled' : 'committed'
    const maxOverrun = [MANY, MANY]
    return this.holds.settle({ subject, set, quotas: quotasOf(terms), id: idOf(id), as, actual, overrun, maxOverrun })
  }

  /** What is used of each limit, by position. */
  async used(subject: SubjectKeys = BOTH, set = ALL): Promise<number[]> {
    const layers = typeof subject !== 'string' && subject.team === null ? [0, 2] : [0, 1, 2]
    const { states } = await this.counters.read({ subject, set, layers })
    return usedIn(states)
  }
}

function quotasOf({ layers = [0, 1, 2], limits = {} }: Terms) {
  return { layers, limits: EVERYTHING.map((at) => limits[at] ?? MANY) }
}

function usedIn(states: readonly number[]): number[] {
  return states.filter((_, index) => index % 2 === 1)
}

function setCaseWith(...more: readonly Need[]): CaseOf<CaseContext & { readonly mixed: Mixed }> {
  return (name, run) =>
    abilityCase(`sets: ${name}`, ['sets', ...more], (context) => run({ ...context, mixed: new Mixed(context) }))
}

const setCase = setCaseWith()
const holdCase = setCaseWith('holds', 'concurrency')

/** Cases about layers with different limits, and requests that count in some of them. */
export const SET_CASES: readonly ContextCase[] = [
  setCase('each layer has limits of its own, and one decision charges all of them', async ({ mixed }) => {
    const { outcome, now, states } = await mixed.take(ALL, [4, 1, 0])
    assert.equal(outcome, 'admitted')
    assert.deepEqual(states, [now, 4, now, 4, -1, 0, now, 4, now, 1, now, 4])
    assert.deepEqual(await mixed.used(), [4, 4, 0, 4, 1, 4])
  }),
  setCase('every limit of the set refuses, and a refusal changes none', async ({ mixed }) => {
    await mixed.take(ALL, [4, 1, 0])
    for (const at of [TOKENS, TOKENS_PER_DAY, TEAM, REQUESTS, SITE]) {
      const limit = at === REQUESTS ? 1 : 4
      const { outcome, states } = await mixed.take(ALL, [1, 1, 0], { limits: { [at]: limit } })
      assert.deepEqual([outcome, usedIn(states)], ['refused', [4, 4, 0, 4, 1, 4]], `position ${at}`)
    }
  }),
  setCase('a limit outside of the set neither refuses nor is charged', async ({ mixed }) => {
    const limits = { [TOKENS_PER_DAY]: 0, [REQUESTS]: 0 }
    const { outcome, now, states } = await mixed.take(HOURS, [4, 1, 0], { limits })
    assert.equal(outcome, 'admitted')
    assert.deepEqual(states, [now, 4, -1, 0, -1, 0, now, 4, -1, 0, now, 4])
    assert.deepEqual(await mixed.used(), [4, 0, 0, 4, 0, 4])
  }),
  setCase('a limit of several sets counts the requests of all of them', async ({ mixed }) => {
    await mixed.take(HOURS, [3, 1, 0])
    await mixed.take(USER, [2, 1, 0])
    await mixed.take(DAY, [1, 1, 0])
    assert.deepEqual(await mixed.used(), [5, 3, 0, 3, 1, 3])
    assert.equal((await mixed.take(HOURS, [1, 0, 0], { limits: { [TOKENS]: 5 } })).outcome, 'refused')
    assert.equal((await mixed.take(DAY, [1, 0, 0], { limits: { [TOKENS]: 5 } })).outcome, 'admitted')
    assert.equal((await mixed.take(USER, [1, 0, 0], { limits: { [TOKENS_PER_DAY]: 4 } })).outcome, 'refused')
  }),
  setCase('a read has the states of its set alone', async ({ mixed }) => {
    await mixed.take(ALL, [4, 1, 0])
    assert.deepEqual(await mixed.used(BOTH, HOURS), [4, 0, 0, 4, 0, 4])
    assert.deepEqual(await mixed.used(BOTH, DAY), [0, 4, 0, 0, 1, 0])
  }),
  setCase('one amount of several limits of a unit is taken once from each', async ({ mixed }) => {
    const limits = { [TOKENS]: 6, [TOKENS_PER_DAY]: 6 }
    assert.equal((await mixed.take(USER, [4, 0, 0], { limits })).outcome, 'admitted')
    assert.equal((await mixed.take(USER, [3, 0, 0], { limits })).outcome, 'refused')
    assert.equal((await mixed.take(USER, [2, 0, 0], { limits })).outcome, 'admitted')
  }),
  setCase('a settlement gives back to the limits of its set', async ({ mixed }) => {
    await mixed.take(ALL, [4, 1, 0])
    const { states } = await mixed.take(HOURS, [3, 1, 0])
    const settle = { subject: BOTH, set: HOURS, layers: [0, 1, 2], states, as: 'cancelled' } as const
    await mixed.counters.settle({ ...settle, refunds: [2, 1] })
    assert.deepEqual(await mixed.used(), [5, 4, 0, 5, 1, 5])
  }),
  setCase('a reset closes these limits of a row and no others', async ({ mixed }) => {
    await mixed.take(ALL, [4, 1, 0])
    await mixed.counters.reset({ subject: BOTH, limits: [TOKENS, REQUESTS] })
    assert.deepEqual(await mixed.used(), [0, 4, 0, 4, 0, 4])
  }),
  setCase('a subject without a key in a layer is counted in the others', async ({ mixed }) => {
    const { outcome, states } = await mixed.take(ALL, [4, 1, 0], { subject: OWN, layers: [0, 2] })
    assert.deepEqual([outcome, usedIn(states)], ['admitted', [4, 4, 0, 0, 1, 4]])
    assert.deepEqual(await mixed.used(), [4, 4, 0, 0, 1, 4])
    await mixed.counters.reset({ subject: OWN, limits: [TOKENS, TOKENS_PER_DAY] })
    assert.deepEqual(await mixed.used(), [0, 0, 0, 0, 1, 4])
  }),
  setCaseWith('ids')('equal keys of different layers own different ids', async ({ mixed }) => {
    const team: Terms = { subject: { user: null, team: 'u' }, layers: [1, 2], id: 'i' }
    assert.equal((await mixed.take(HOURS, [4, 1, 0], { subject: OWN, layers: [0, 2], id: 'i' })).outcome, 'admitted')
    assert.equal((await mixed.take(HOURS, [3, 1, 0], team)).outcome, 'admitted')
    assert.deepEqual(await mixed.used(), [4, 0, 0, 0, 0, 7])
    assert.deepEqual(await mixed.used({ user: 'v', team: 'u' }), [0, 0, 0, 3, 0, 7])
  }),
  setCaseWith('ids')('a repeated id gets the stored reply of its set', async ({ mixed }) => {
    const first = await mixed.take(HOURS, [4, 1, 0], { id: 'i' })
    await mixed.take(ALL, [1, 1, 0])
    const again = await mixed.take(HOURS, [4, 1, 0], { id: 'i' })
    assert.deepEqual([again.outcome, again.states], ['admitted', first.states])
    assert.deepEqual(await mixed.used(), [5, 1, 0, 5, 1, 5])
  }),
  setCaseWith('expiry')('a layer without a limit in the set has no row', async ({ mixed, keptForMs }) => {
    await mixed.take(USER, [4, 1, 0])
    assert.ok((await keptForMs({ layer: 'user', key: 'u' })) > 0)
    assert.equal(await keptForMs({ layer: 'team', key: 't' }), 0)
    assert.equal(await keptForMs({ layer: 'site', key: '' }), 0)
  }),
  setCaseWith('damage')('the row of a layer without a limit in the set is not read', async ({ mixed, damage }) => {
    await mixed.take(ALL, [4, 1, 0])
    await damage({ layer: 'site', key: '' }, () => new Uint8Array([9]))
    const { outcome, states } = await mixed.take(USER, [2, 1, 0])
    assert.deepEqual([outcome, usedIn(states)], ['admitted', [6, 6, 0, 0, 0, 0]])
    assert.deepEqual(await mixed.used(BOTH, USER), [6, 6, 0, 0, 0, 0])
  }),
]

/** Cases about holds on such layers, also when the set changes while a hold is open. */
export const SET_HOLD_CASES: readonly ContextCase[] = [
  holdCase('a hold has a slot only where its set counts slots', async ({ mixed }) => {
    await mixed.hold(HOURS, [3, 1, 1], { limits: { [SLOTS]: 0 } })
    assert.deepEqual(await mixed.used(), [3, 0, 0, 3, 0, 3])
    await mixed.hold(USER, [2, 1, 1], { id: 'i' })
    assert.deepEqual(await mixed.used(), [5, 2, 1, 3, 0, 3])
    assert.equal((await mixed.hold(ALL, [1, 1, 1], { id: 'j', limits: { [SLOTS]: 1 } })).outcome, 'refused')
  }),
  holdCase('a hold gives back where it was charged, whichever set settles it', async ({ mixed }) => {
    await mixed.take(ALL, [1, 1, 0])
    for (const set of [ALL, HOURS, USER, DAY]) {
      await mixed.hold(HOURS, [5, 1, 0], { id: `commit ${set}` })
      await mixed.settle(set, [0, 0], 'charge', { id: `commit ${set}` })
      await mixed.hold(ALL, [5, 1, 1], { id: `cancel ${set}` })
      await mixed.settle(set, undefined, 'charge', { id: `cancel ${set}` })
      assert.deepEqual(await mixed.used(), [1, 1, 0, 1, 1, 1], `set ${set}`)
    }
  }),
  holdCase('an overrun is charged where the set of the commit counts it', async ({ mixed }) => {
    await mixed.hold(HOURS, [3, 1, 0])
    const { charged, reserved, added } = await mixed.settle(USER, [5, 1])
    assert.deepEqual(
      [charged, reserved, added],
      [
        [5, 1],
        [3, 1],
        [2, 0],
      ],
    )
    assert.deepEqual(await mixed.used(), [5, 2, 0, 3, 0, 3])
  }),
  holdCase('a growth is charged where its set counts it, and goes back with the hold', async ({ mixed }) => {
    await mixed.hold(HOURS, [3, 1, 0])
    const grow = { subject: BOTH, id: idOf('h'), costs: [2, 1, 0] }
    assert.equal((await mixed.holds.grow({ ...grow, set: DAY, quotas: quotasOf({}) })).outcome, 'held')
    assert.deepEqual(await mixed.used(), [3, 2, 0, 3, 1, 3])
    const quotas = quotasOf({ limits: { [TOKENS]: 3 } })
    assert.equal((await mixed.holds.grow({ ...grow, set: USER, quotas })).outcome, 'refused')
    await mixed.settle(ALL, undefined)
    assert.deepEqual(await mixed.used(), [0, 0, 0, 0, 0, 0])
  }),
  holdCase('an expired hold gives back in every layer', async ({ mixed, advance }) => {
    await mixed.hold(ALL, [3, 1, 1])
    await mixed.hold(USER, [2, 1, 0], { subject: OWN, layers: [0, 2], id: 'i' })
    await advance(HOLD_MS)
    const { ended } = await mixed.holds.sweep()
    assert.deepEqual(new Set(ended.map(({ owner }) => owner)), new Set(['u']))
    assert.deepEqual(await mixed.used(), [0, 0, 0, 0, 0, 0])
  }),
  holdCase('a listed hold has its charges by limit where its owner’s key counts', async ({ mixed }) => {
    const { now } = await mixed.hold(HOURS, [3, 1, 0])
    const { holds } = await mixed.holds.list({ subject: BOTH })
    assert.deepEqual(
      holds.map(({ charged }) => charged),
      [[now, 3, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0]],
    )
  }),
  setCaseWith('holds', 'fit')('an overrun fits into the limits of the commit’s set', async ({ mixed }) => {
    const limits = { [TOKENS_PER_DAY]: 4, [SITE]: 8, [REQUESTS]: 2 }
    await mixed.hold(HOURS, [3, 1, 0])
    const all = await mixed.settle(ALL, [20, 9], 'fit', { limits })
    assert.deepEqual(
      [all.charged, all.uncharged],
      [
        [7, 3],
        [13, 6],
      ],
    )
    assert.deepEqual(await mixed.used(), [7, 4, 0, 7, 2, 7])
    await mixed.hold(HOURS, [1, 0, 0], { id: 'i', limits })
    const user = await mixed.settle(DAY, [2, 1], 'fit', { id: 'i', limits })
    assert.deepEqual(
      [user.charged, user.uncharged],
      [
        [1, 0],
        [1, 1],
      ],
    )
    await mixed.hold(USER, [1, 0, 0], { id: 'j' })
    const site = await mixed.settle(HOURS, [9, 0], 'fit', { id: 'j', limits: { ...limits, [SITE]: 10 } })
    assert.deepEqual(
      [site.charged, site.uncharged],
      [
        [3, 0],
        [6, 0],
      ],
    )
  }),
]
