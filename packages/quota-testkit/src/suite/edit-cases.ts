import assert from 'node:assert/strict'
import type { RollingWindow } from '@scoregw/quota/internal'
import type { CaseContext, ConformanceCase } from './harness.ts'
import { type Manner, Parties, SUBJECT } from './parties.ts'
import { DAY_MS, HOUR_MS, Probe, rollingCells, SIX_WINDOWS } from './probe.ts'
import type { Table, TableLayer } from './table.ts'

/** A policy's schema before and after an edit. */
interface Edit {
  readonly name: string
  readonly before: Table
  readonly after: Table
  /** Whether one layer of subjects becomes several. */
  readonly regroups?: boolean
}

/** The policy before each edit: three windows, two categories, two layers. */
const BEFORE: Table = {
  ...SIX_WINDOWS,
  layers: [
    { name: 'personal', shared: false },
    { name: 'site', shared: true },
  ],
}
const HOUR = { label: '1h', lengthMs: HOUR_MS }
const FIVE_HOURS = { label: '5h', lengthMs: 5 * HOUR_MS }
const DAY = { label: '1d', lengthMs: DAY_MS }
const [PERSONAL, SITE] = BEFORE.layers as [TableLayer, TableLayer]

/** Returns the schema with different windows. */
export function withWindows(schema: Table, windows: readonly RollingWindow[]): Table {
  return { ...schema, cells: rollingCells(...windows) }
}

/** Edits that may not affect ids and holds: windows, the order of categories and layers, another shared layer. */
export const EDITED: Table = {
  ...withWindows(SIX_WINDOWS, [{ label: '10m', lengthMs: 600_000 }, FIVE_HOURS, DAY]),
  categories: ['admin', 'write', 'read'],
  layers: [{ name: 'all', shared: true }, ...SIX_WINDOWS.layers],
}

function windows(name: string, ...after: RollingWindow[]): Edit {
  return { name, before: BEFORE, after: withWindows(BEFORE, after) }
}

function layers(name: string, ...after: TableLayer[]): Edit {
  const regroups = after.filter(({ shared }) => !shared).length > 1
  return { name, before: BEFORE, after: { ...BEFORE, layers: after }, regroups }
}

function categories(name: string, ...after: string[]): Edit {
  return { name, before: BEFORE, after: { ...BEFORE, categories: after } }
}

const TEAM: TableLayer = { name: 'team', shared: false }
const ALL: TableLayer = { name: 'all', shared: true }

/** The edits of a policy in use. */
const EDITS: readonly Edit[] = [
  windows('a shortest window is added', { label: '10m', lengthMs: 600_000 }, HOUR, FIVE_HOURS, DAY),
  windows('a middle window is added', HOUR, { label: '3h', lengthMs: 3 * HOUR_MS }, FIVE_HOURS, DAY),
  windows('a longest window is added', HOUR, FIVE_HOURS, DAY, { label: '7d', lengthMs: 7 * DAY_MS }),
  windows('a window as long as another is added', HOUR, { label: '60m', lengthMs: HOUR_MS }, FIVE_HOURS, DAY),
  windows('the shortest window is removed', FIVE_HOURS, DAY),
  windows('the longest window is removed', HOUR, FIVE_HOURS),
  windows('a window becomes longer', { ...HOUR, lengthMs: 2 * HOUR_MS }, FIVE_HOURS, DAY),
  windows('a window becomes shorter than another', HOUR, FIVE_HOURS, { ...DAY, lengthMs: 2 * HOUR_MS }),
  windows('a window gets another label', HOUR, { ...FIVE_HOURS, label: 'shift' }, DAY),
  windows('two windows change labels', { ...FIVE_HOURS, label: '1h' }, { ...HOUR, label: '5h' }, DAY),
  windows('all windows are replaced', { label: '2h', lengthMs: 2 * HOUR_MS }),
  layers('a shared layer is added in front', ALL, PERSONAL, SITE),
  layers('a layer of teams is added', PERSONAL, TEAM, SITE),
  layers('the shared layer is removed', PERSONAL),
  layers('layers change places', SITE, PERSONAL),
  categories('a category is added in front', 'admin', 'read', 'write'),
  categories('a category is removed', 'write'),
  categories('categories change places', 'write', 'read'),
  {
    name: 'everything changes',
    before: BEFORE,
    after: withWindows({ ...BEFORE, categories: ['admin', 'write'], layers: [ALL, SITE, PERSONAL] }, [
      { label: '10m', lengthMs: 600_000 },
      DAY,
      { ...HOUR, lengthMs: 2 * HOUR_MS },
    ]),
  },
]

const MANNERS: readonly Manner[] = ['concurrently', 'in turn']

/** A category of both schemas. */
function common({ before, after }: Edit): string {
  return before.categories.find((category) => after.categories.includes(category)) ?? ''
}

/** Charges, refunds, resets and window ends, with the two policies taking turns. */
async function livesThrough(context: CaseContext, edit: Edit, manner: Manner): Promise<void> {
  const { before, after } = edit
  const both = common(edit)
  const parties = new Parties(context, manner, before, after)
  const first = await parties.take(before, 2, { category: both })
  for (const category of before.categories) await parties.take(before, 1, { category })
  await parties.take(before, 7, { category: both, subject: { personal: 'v', team: 't' } })
  await parties.advance(1_000)
  const second = await parties.take(after, 3, { category: both })
  for (const category of after.categories) await parties.take(after, 1, { category })
  await parties.fill(before, { category: both })
  await parties.fill(after, { category: both })
  await parties.advance(1_000)
  await parties.cancel(before, first, 2)
  await parties.cancel(after, second, 1)
  await parties.advance(HOUR_MS - 2_000)
  for (const schema of [after, before]) await parties.take(schema, 4, { category: both })
  await parties.reset(after, { category: both })
  for (const schema of [before, after]) await parties.take(schema, 5, { category: both })
  await parties.cancel(before, first, 2)
  await endsOneByOne(parties, both, [before, after])
}

/** Lets all windows end, and starts again. */
async function endsOneByOne(parties: Parties, category: string, schemas: readonly Table[]): Promise<void> {
  const [before, after] = schemas
  await parties.advance(2 * HOUR_MS)
  if (after) await parties.take(after, 1, { category })
  await parties.advance(3 * HOUR_MS)
  if (before) await parties.take(before, 1, { category })
  if (before) await parties.reset(before, { category })
  if (after) await parties.take(after, 1, { category })
  await parties.advance(8 * 24 * HOUR_MS)
  for (const schema of schemas) await parties.take(schema, 6, { category })
}

/** For stores that restart counters when layers of subjects become several: shared counters must go on. */
async function sharedGoOn({ store }: CaseContext, { before, after }: Edit): Promise<void> {
  const old = new Probe(store, before, 99)
  await old.admitted(3)
  const subject = SUBJECT
  const layers = after.layers.flatMap(({ shared }, index) => (shared ? [index] : []))
  const renewed = new Probe(store, after, 99)
  assert.deepEqual(
    await renewed.used({ subject, layers }),
    after.cells.map(() => 3),
  )
  await renewed.admitted(4, { subject })
  assert.deepEqual(
    await old.used({ layers: before.layers.flatMap(({ shared }, index) => (shared ? [index] : [])) }),
    [7, 7, 7],
  )
}

function editCase(edit: Edit, manner: Manner): ConformanceCase {
  const name = `when ${edit.name}, shared counters continue and others stay; the policies write ${manner}`
  const run = (context: CaseContext): Promise<void> => livesThrough(context, edit, manner)
  if (edit.regroups !== true) return { name, run }
  return { name, needs: 'regroup', run, without: (context) => sharedGoOn(context, edit) }
}

/** Cases about counters while the policy is edited. Counters are matched by name. */
export const EDIT_CASES: readonly ConformanceCase[] = EDITS.flatMap((edit) =>
  MANNERS.map((manner) => editCase(edit, manner)),
)
