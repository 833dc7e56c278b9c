import assert from 'node:assert/strict'
import { layerKey, type RollingWindow } from '@scoregw/quota/internal'
import type { CaseContext, RowName } from './harness.ts'
import { idCase, refusesIds } from './id-cases.ts'
import type { ContextCase } from './old-case.ts'
import { plainCase } from './old-case.ts'
import { DAY_MS, HOUR_MS, idOf, ONE_WINDOW, Probe, rollingCells, SIX_WINDOWS } from './probe.ts'
import type { Table, TableLayer } from './table.ts'

const MINUTE_MS = 60_000
/** The policy before each edit: three windows, two categories, two layers. */
const BEFORE: Table = SIX_WINDOWS
const HOUR = { label: '1h', lengthMs: HOUR_MS }
const FIVE_HOURS = { label: '5h', lengthMs: 5 * HOUR_MS }
const DAY = { label: '1d', lengthMs: DAY_MS }
const TEN_MINUTES = { label: '10m', lengthMs: 10 * MINUTE_MS }
const TWO_HOURS = { label: '2h', lengthMs: 2 * HOUR_MS }
const [PERSONAL, SITE] = BEFORE.layers as [TableLayer, TableLayer]
const TEAM: TableLayer = { name: 'team', shared: false }
const ALL: TableLayer = { name: 'all', shared: true }
/** A key for each layer that an edit may add. */
const SUBJECT = { personal: 'u', team: 't' }

function windows(...after: RollingWindow[]): Pick<Table, 'cells'> {
  return { cells: rollingCells(...after) }
}

/** Edits that may not affect ids and holds: windows, the order of categories and layers, another shared layer. */
export const EDITED: Table = {
  ...BEFORE,
  ...windows(TEN_MINUTES, FIVE_HOURS, DAY),
  categories: ['admin', 'write', 'read'],
  layers: [ALL, PERSONAL, SITE],
}

/** The edits of a policy in use. */
const EDITS: Readonly<Record<string, Partial<Table>>> = {
  'a shortest window is added': windows(TEN_MINUTES, HOUR, FIVE_HOURS, DAY),
  'a window as long as another is added': windows(HOUR, { label: '60m', lengthMs: HOUR_MS }, FIVE_HOURS, DAY),
  'the shortest window is removed': windows(FIVE_HOURS, DAY),
  'a window becomes longer': windows({ ...HOUR, lengthMs: 2 * HOUR_MS }, FIVE_HOURS, DAY),
  'a window gets another label': windows(HOUR, { ...FIVE_HOURS, label: 'shift' }, DAY),
  'two windows change labels': windows({ ...FIVE_HOURS, label: '1h' }, { ...HOUR, label: '5h' }, DAY),
  'all windows are replaced': windows(TWO_HOURS),
  'a shared layer is added in front': { layers: [ALL, PERSONAL, SITE] },
  'a layer of teams is added': { layers: [PERSONAL, TEAM, SITE] },
  'layers change places': { layers: [SITE, PERSONAL] },
  'the shared layer is removed': { layers: [PERSONAL] },
  'a category is added in front': { categories: ['admin', 'read', 'write'] },
  'categories change places': { categories: ['write', 'read'] },
  'everything changes': { ...EDITED, ...windows(TEN_MINUTES, DAY, TWO_HOURS), layers: [ALL, SITE, PERSONAL] },
}

/** The counters of a request, by name. */
function namesOf({ layers, cells, categories }: Table, category: string): string[] {
  assert.ok(categories.includes(category))
  return layers.flatMap((layer) =>
    cells.map((cell) => JSON.stringify([layer.name, layerKey(layer, SUBJECT), cell.identity])),
  )
}

/** Two policies charge, refund and reset in turn. What both name is one counter, and everything else is their own. */
async function goesOn({ store, peer, advance }: CaseContext, before: Table, after: Table): Promise<void> {
  const tables = [before, after] as const
  const [old, renewed] = [new Probe(store, before, 99), new Probe(peer, after, 99)]
  const used = new Map<string, number>()
  const charge = async (probe: Probe, cost: number, category: string) => {
    const reply = await probe.admitted(cost, { subject: SUBJECT, category: probe.table.categories.indexOf(category) })
    if (category !== 'read') return reply
    for (const name of namesOf(probe.table, 'read')) used.set(name, (used.get(name) ?? 0) + cost)
    return reply
  }
  const compare = async (why: string) => {
    for (const [index, probe] of [old, renewed].entries()) {
      const table = tables[index] ?? before
      const seen = await probe.used({ subject: SUBJECT, category: table.categories.indexOf('read') })
      const due = namesOf(table, 'read').map((name) => used.get(name) ?? 0)
      assert.deepEqual(seen, due, `${why}, ${index === 0 ? 'before' : 'after'} the edit`)
    }
  }
  const first = await charge(old, 3, 'read')
  await charge(old, 50, 'write')
  await advance(1_000)
  await charge(renewed, 4, 'read')
  await compare('charged by both')
  await old.cancel(first, 2, { subject: SUBJECT, category: before.categories.indexOf('read') })
  for (const name of namesOf(before, 'read')) used.set(name, (used.get(name) ?? 0) - 2)
  await compare('refunded')
  await renewed.reset({ subject: SUBJECT, category: after.categories.indexOf('read') })
  for (const name of namesOf(after, 'read')) used.set(name, 0)
  await compare('reset after the edit')
  await charge(old, 5, 'read')
  await compare('charged again')
}

/** For stores that restart counters when layers of subjects become several: shared counters must go on. */
async function sharedGoOn({ store }: CaseContext, after: Table): Promise<void> {
  const [old, renewed] = [new Probe(store, BEFORE, 99), new Probe(store, after, 99)]
  await old.admitted(3)
  const layers = after.layers.flatMap(({ shared }, index) => (shared ? [index] : []))
  assert.deepEqual(await renewed.used({ subject: SUBJECT, layers }), [3, 3, 3])
  await renewed.admitted(4, { subject: SUBJECT })
  assert.deepEqual(await old.used({ layers: [1] }), [7, 7, 7])
}

function editCase(what: string, edit: Partial<Table>): ContextCase {
  const name = `when ${what}, counters of both policies continue by name, and others stay`
  const after = { ...BEFORE, ...edit }
  const run = (context: CaseContext): Promise<void> => goesOn(context, BEFORE, after)
  if (after.layers.filter(({ shared }) => !shared).length === 1) return { name, run }
  return { name, needs: 'regroup', run, without: (context) => sharedGoOn(context, after) }
}

/** A layer with windows of these lengths. */
function lasting(...lengthsMs: number[]): Table {
  return { ...ONE_WINDOW, ...windows(...lengthsMs.map((ms) => ({ label: `${ms / MINUTE_MS}m`, lengthMs: ms }))) }
}

const SHORT = lasting(MINUTE_MS)
const LONG = lasting(MINUTE_MS, 30 * DAY_MS)
const ROW: RowName = { layer: 'personal/read', key: 'u' }

/** The writes of a policy without the long window. */
const WRITES: readonly ((probe: Probe) => Promise<unknown>)[] = [
  (probe) => probe.admitted(1),
  async (probe) => probe.cancel(await probe.admitted(2), 1),
  (probe) => probe.reset(),
]

const EXPIRY_CASE: ContextCase = {
  name: "a row's expiry is never shortened, and extended by any policy that needs more",
  needs: 'expiry',
  async run({ store, peer, advance, keptForMs }) {
    const isKept = async (ms: number) => assert.ok((await keptForMs(ROW)) >= ms, `kept for at least ${ms} ms`)
    for (const write of WRITES) {
      const [short, long] = [new Probe(store, SHORT, 99), new Probe(peer, LONG, 99)]
      await long.admitted(3)
      await isKept(30 * DAY_MS)
      await advance(1_000)
      await write(short)
      await isKept(30 * DAY_MS - 1_000)
      await long.reset()
      await advance(31 * DAY_MS)
      await write(short)
      await long.admitted(1)
      await isKept(30 * DAY_MS)
      await advance(31 * DAY_MS)
    }
  },
  async without({ store, peer, advance }) {
    const [short, long] = [new Probe(store, SHORT, 99), new Probe(peer, LONG, 99)]
    const { now } = await long.admitted(3)
    for (const write of WRITES) await write(short)
    await advance(30 * DAY_MS - 1)
    assert.deepEqual((await long.states()).slice(2), [now, 3])
  },
}

/** Two processes: one with the policy before an edit, one with the policy after it. */
function twoProbes({ store, peer }: CaseContext): readonly [before: Probe, after: Probe] {
  return [new Probe(store, BEFORE, 100), new Probe(peer, EDITED, 100)]
}

/** The outcome of a used id after a layer of subjects was added. */
async function againWithTeam(context: CaseContext, expected: string): Promise<void> {
  if (!context.capabilities.includes('ids')) return refusesIds(context)
  const before = new Probe(context.store, BEFORE, 99)
  const after = new Probe(context.peer, { ...BEFORE, layers: [PERSONAL, SITE, TEAM] }, 99)
  await before.admitted(3, { id: idOf('attempt', 'a') })
  assert.equal((await after.take(3, { subject: SUBJECT, id: idOf('attempt', 'b') })).outcome, expected)
}

/** Cases about counters and ids while the policy is edited. They are matched by name. */
export const EDIT_CASES: readonly ContextCase[] = [
  ...Object.entries(EDITS).map(([what, edit]) => editCase(what, edit)),
  EXPIRY_CASE,
  plainCase('two concurrent policies never admit more than the limit of a shared window', async ({ store, peer }) => {
    const shorter = lasting(MINUTE_MS, HOUR_MS)
    const longer = lasting(HOUR_MS, DAY_MS)
    const [one, other, same] = [
      new Probe(store, shorter, 30),
      new Probe(peer, longer, 30),
      new Probe(store, longer, 30),
    ]
    const replies = await Promise.all(Array.from({ length: 90 }, (_, n) => [one, other, same][n % 3]?.take(1)))
    assert.equal(replies.filter((reply) => reply?.outcome === 'admitted').length, 30)
    assert.deepEqual([(await one.used())[1], (await other.used())[0]], [30, 30])
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
    const each = probes.flatMap((probe, index) =>
      names.map((_, category) => ({ probe, category, tokens: 1 + index + 10 * category })),
    )
    for (const { probe, category, tokens } of each) await probe.admitted(tokens, { category })
    for (const { probe, category, tokens } of each) assert.deepEqual(await probe.used({ category }), [tokens, tokens])
  }),
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
    assert.deepEqual(await before.used({ layers: [0] }), [0, 0, 0])
  }),
  {
    name: 'an id stays valid when a non-shared layer is added after the first',
    needs: 'regroup',
    run: (context) => againWithTeam(context, 'duplicate'),
    // Ids restart together with the counters in the same row.
    without: (context) => againWithTeam(context, 'admitted'),
  },
]
