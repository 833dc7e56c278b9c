import assert from 'node:assert/strict'
import { EDITED, withWindows } from './edit-cases.ts'
import type { CaseContext, ConformanceCase, RowName } from './harness.ts'
import { idCase, refusesIds } from './id-cases.ts'
import { Parties, SUBJECT } from './parties.ts'
import { plainCase } from './port-harness.ts'
import { DAY_MS, HOUR_MS, idOf, ONE_WINDOW, Probe, SIX_WINDOWS } from './probe.ts'
import type { Table } from './table.ts'

const BEFORE: Table = SIX_WINDOWS
/** Two processes: one with the policy before an edit, one with the policy after it. */
function twoProbes({ store, peer }: CaseContext): readonly [before: Probe, after: Probe] {
  return [new Probe(store, BEFORE, 100), new Probe(peer, EDITED, 100)]
}

/** The outcome of a used id after a layer of subjects was added. */
async function againWithTeam({ store, peer }: CaseContext): Promise<string> {
  const team = { name: 'team', shared: false }
  const before = new Probe(store, BEFORE, 99)
  const after = new Probe(peer, { ...BEFORE, layers: [...BEFORE.layers, team] }, 99)
  await before.admitted(3, { id: idOf('attempt', 'a') })
  const { outcome } = await after.take(3, { subject: SUBJECT, id: idOf('attempt', 'b') })
  return outcome
}

/** Cases about ids while the policy is edited. */
export const ROLLING_ID_CASES: readonly ConformanceCase[] = [
  idCase('an id used under one policy is a duplicate under another', async (context) => {
    const [before, after] = twoProbes(context)
    await before.admitted(3, { id: idOf('old', 'a') })
    await after.admitted(3, { category: 2, id: idOf('new', 'a') })
    assert.equal((await after.take(3, { category: 2, id: idOf('old', 'b') })).outcome, 'duplicate')
    assert.equal((await before.take(3, { id: idOf('new', 'b') })).outcome, 'duplicate')
    assert.equal((await before.take(3, { id: idOf('new', 'b', 'other') })).outcome, 'conflict')
    assert.deepEqual(await before.used({ layers: [0] }), [3, 6, 6])
  }),
  idCase("a cancel by one policy prevents another's later reserve from charging", async (context) => {
    const [before, after] = twoProbes(context)
    await after.cancel(undefined, 3, { category: 2, id: idOf('attempt') })
    assert.equal((await before.take(3, { id: idOf('attempt') })).outcome, 'cancelled')
    const reply = await before.admitted(3, { id: idOf('second') })
    await before.cancel(reply, 3, { id: idOf('second') })
    assert.equal((await after.take(3, { category: 2, id: idOf('second') })).outcome, 'cancelled')
    assert.deepEqual(await before.used({ layers: [0] }), [0, 0, 0])
  }),
  idCase(
    "a refund reaches its windows after another policy wrote, even ones that policy doesn't have",
    async (context) => {
      const parties = new Parties(context, 'concurrently', BEFORE, EDITED)
      const taken = await parties.take(BEFORE, 3, { id: idOf('attempt', 'a') })
      await parties.advance(1_000)
      const other = await parties.take(EDITED, 2, { id: idOf('other', 'b') })
      await parties.take(EDITED, 4)
      await parties.cancel(BEFORE, taken, 3)
      await parties.cancel(EDITED, other, 1)
      await parties.advance(HOUR_MS)
      await parties.take(BEFORE, 1)
    },
  ),
  {
    name: 'an id stays valid when a non-shared layer is added after the first',
    needs: 'regroup',
    run: async (context) => {
      if (!context.capabilities.includes('ids')) return refusesIds(context)
      assert.equal(await againWithTeam(context), 'duplicate')
    },
    // Ids restart together with the counters in the same row.
    without: async (context) => {
      if (!context.capabilities.includes('ids')) return refusesIds(context)
      assert.equal(await againWithTeam(context), 'admitted')
    },
  },
]

const MINUTE_MS = 60_000

/** A layer with windows of these lengths. */
function lasting(...lengthsMs: number[]): Table {
  return withWindows(
    ONE_WINDOW,
    lengthsMs.map((lengthMs) => ({ label: `${lengthMs / MINUTE_MS}m`, lengthMs })),
  )
}

const SHORT = lasting(MINUTE_MS)
const LONG = lasting(30 * DAY_MS)
const BOTH = lasting(MINUTE_MS, 30 * DAY_MS)
const ROW: RowName = { layer: 'personal/read', key: 'u' }

/** The writes of a policy without the long window. */
const WRITES: Readonly<Record<string, (parties: Parties) => Promise<unknown>>> = {
  'a charge': (parties) => parties.take(SHORT, 1),
  'a refund': async (parties) => parties.cancel(SHORT, await parties.take(SHORT, 2), 1),
  'a reset': (parties) => parties.reset(SHORT),
}

/** Asserts that a row is kept as long as its longest window, whichever schema wrote last. */
async function isKept({ keptForMs }: CaseContext, endsInMs: number): Promise<void> {
  const ms = await keptForMs(ROW)
  assert.ok(ms >= endsInMs, `kept for ${ms} ms, and needed for ${endsInMs}`)
}

const LIFE_CASES: readonly ConformanceCase[] = Object.entries(WRITES).flatMap(([write, run]) =>
  [BOTH, LONG].map((other): ConformanceCase => {
    const shape = other === BOTH ? 'a longer window next to its own' : 'a longer window'
    return plainCase(`${write} by a policy without it doesn’t shorten the expiry of ${shape}`, async (context) => {
      const parties = new Parties(context, 'concurrently', other, SHORT)
      await parties.take(other, 3)
      await parties.advance(DAY_MS)
      await run(parties)
      await parties.advance(29 * DAY_MS - 1)
      await parties.take(other, 1)
      await parties.advance(1)
      await parties.take(other, 1)
    })
  }),
)

const EXPIRY_CASE: ConformanceCase = {
  name: "a row's expiry is never shortened, and extended by any policy that needs more",
  needs: 'expiry',
  async run(context) {
    for (const write of Object.values(WRITES)) {
      const parties = new Parties(context, 'concurrently', BOTH, SHORT)
      await parties.take(BOTH, 3)
      await isKept(context, 30 * DAY_MS)
      await parties.advance(1_000)
      await write(parties)
      await isKept(context, 30 * DAY_MS - 1_000)
      await parties.reset(BOTH)
      await parties.advance(31 * DAY_MS)
      await write(parties)
      await parties.take(BOTH, 1)
      await isKept(context, 30 * DAY_MS)
      await parties.advance(31 * DAY_MS)
    }
  },
  async without({ store, advance }) {
    const probe = new Probe(store, BOTH, 10)
    const { now } = await probe.admitted(3)
    await advance(30 * DAY_MS - 1)
    assert.deepEqual(await probe.states(), [-1, 0, now, 3])
  },
}

const HOURS = lasting(60 * MINUTE_MS, 300 * MINUTE_MS)
const SHORTER = lasting(MINUTE_MS, 60 * MINUTE_MS, 300 * MINUTE_MS)
const LONGER = lasting(60 * MINUTE_MS, 300 * MINUTE_MS, DAY_MS)
const APART = lasting(MINUTE_MS, 300 * MINUTE_MS)

/** Each policy resets the windows that it knows, and the others go on, even in the same millisecond. */
async function closesEach(context: CaseContext, one: Table, other: Table): Promise<void> {
  const parties = new Parties(context, 'concurrently', one, other)
  const first = await parties.take(one, 4)
  const second = await parties.take(other, 4)
  for (const [closing, going] of [
    [one, other],
    [other, one],
  ] as const) {
    await parties.reset(closing)
    await parties.take(going, 1)
    await parties.reset(closing)
    await parties.reset(going)
    await parties.take(closing, 2)
    await parties.take(going, 1)
    await parties.cancel(one, first, 4)
    await parties.cancel(other, second, 4)
  }
  await parties.advance(MINUTE_MS)
  await parties.take(other, 2)
  await parties.take(one, 2)
  await parties.reset(one)
  await parties.advance(HOUR_MS)
  await parties.take(other, 1)
  await parties.fill(one)
}

const CLOSING: readonly (readonly [name: string, one: Table, other: Table])[] = [
  ['one has a shorter window', HOURS, SHORTER],
  ['one has a longer window', HOURS, LONGER],
  ['each has a first window of its own', HOURS, APART],
  ['they have nothing in common', HOURS, lasting(DAY_MS)],
]

const CLOSING_CASES: readonly ConformanceCase[] = CLOSING.map(([name, one, other]) =>
  plainCase(`windows that one policy closed aren’t opened by another’s writes: ${name}`, (context) =>
    closesEach(context, one, other),
  ),
)

/** Cases about rows that several policies write. */
export const ROLLING_CASES: readonly ConformanceCase[] = [
  ...LIFE_CASES,
  EXPIRY_CASE,
  ...CLOSING_CASES,
  plainCase('four policies that take turns lose no count', async (context) => {
    const schemas = [HOURS, SHORTER, APART, LONGER, HOURS]
    const parties = new Parties(context, 'in turn', ...schemas)
    for (const [turn, schema] of [...schemas, ...schemas].entries()) {
      const taken = await parties.take(schema, turn + 1)
      await parties.advance(20 * MINUTE_MS)
      await parties.cancel(schema, taken, 1)
    }
  }),
  plainCase('two concurrent policies never admit more than the limit of a shared window', async ({ store, peer }) => {
    const [one, other] = [new Probe(store, SHORTER, 30), new Probe(peer, LONGER, 30)]
    const same = new Probe(store, LONGER, 30)
    const replies = await Promise.all(Array.from({ length: 90 }, (_, n) => [one, other, same][n % 3]?.take(1)))
    assert.equal(replies.filter((reply) => reply?.outcome === 'admitted').length, 30)
    assert.deepEqual((await one.used()).slice(1), [30, 30])
    assert.deepEqual((await other.used()).slice(0, 2), [30, 30])
  }),
  plainCase('two policies with different limits for a window admit at most the larger', async ({ store, peer }) => {
    const [low, high] = [new Probe(store, SHORTER, 10), new Probe(peer, HOURS, 20)]
    let admitted = 0
    for (let call = 0; call < 60; call++) {
      const { outcome } = await (call % 3 === 0 ? high : low).take(1)
      if (outcome === 'admitted') admitted++
    }
    assert.equal(admitted, 20)
    assert.deepEqual(await high.used(), [20, 20])
  }),
  plainCase('names that join to equal texts have different counters', async ({ store }) => {
    const names = ['a', 'a-b', 'a_b', 'b', 'b-c', 'b_c', 'c', 'A']
    const probes = names.map((name) => {
      const layers = [
        { name, shared: false },
        { name: `${name}-s`, shared: true },
      ]
      return new Probe(store, { ...ONE_WINDOW, categories: names, layers }, 1_000)
    })
    for (const [index, probe] of probes.entries()) {
      for (const [category] of names.entries()) await probe.admitted(1 + index + 10 * category, { category })
    }
    for (const [index, probe] of probes.entries()) {
      for (const [category] of names.entries()) {
        const tokens = 1 + index + 10 * category
        assert.deepEqual(await probe.used({ category }), [tokens, tokens], `${names[index]} ${names[category]}`)
      }
    }
  }),
  plainCase("a layer that becomes shared starts at 0, and its subjects' counters stay", async ({ store }) => {
    const own = new Probe(store, ONE_WINDOW, 10)
    const shared = [
      { name: 'personal', shared: true },
      { name: 'user', shared: false },
    ]
    const all = new Probe(store, { ...ONE_WINDOW, layers: shared }, 10)
    await own.admitted(3)
    await all.admitted(2)
    assert.deepEqual(await own.used(), [3])
    assert.deepEqual(await all.used({ subject: 'v' }), [2, 0])
  }),
  plainCase('a read by one policy changes nothing for another', async ({ store, peer, advance }) => {
    const [one, other] = [new Probe(store, SIX_WINDOWS, 10), new Probe(peer, { ...SIX_WINDOWS, ...APART }, 10)]
    const { states } = await one.admitted(4)
    for (let look = 0; look < 3; look++) {
      await advance(1_000)
      assert.deepEqual(await other.used(), [0, 0])
      await other.refused(11)
    }
    assert.deepEqual(await one.states(), [...states])
  }),
]
