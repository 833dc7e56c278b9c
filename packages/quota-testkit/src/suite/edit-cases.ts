import assert from 'node:assert/strict'
import type { StoreSchema } from '@scoregw/quota/store'
import { EDITS, type Edit } from './edits.ts'
import type { CaseContext, ConformanceCase } from './harness.ts'
import { type Manner, Parties, SUBJECT } from './parties.ts'
import { HOUR_MS, Probe } from './probe.ts'

const MANNERS: readonly Manner[] = ['at once', 'one after the other']

/** A category that both know. */
function common({ before, after }: Edit): string {
  return before.categories.find((category) => after.categories.includes(category)) ?? ''
}

/** Charges, refunds, resets and ends of windows, by one policy and by the other, in turns. */
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

/** Until nothing is open any more, and once again from the start. */
async function endsOneByOne(parties: Parties, category: string, schemas: readonly StoreSchema[]): Promise<void> {
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

/** The duty of a store that restarts own counters when they become several: shared ones go on. */
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
  const name = `${edit.name}, the policies at work ${manner}: what both know goes on, what one knows is left alone`
  const run = (context: CaseContext): Promise<void> => livesThrough(context, edit, manner)
  if (edit.regroups !== true) return { name, run }
  return { name, needs: 'regroup', run, without: (context) => sharedGoOn(context, edit) }
}

/** Promises about counters while the policy is edited: they are recognised by name. */
export const EDIT_CASES: readonly ConformanceCase[] = EDITS.flatMap((edit) =>
  MANNERS.map((manner) => editCase(edit, manner)),
)
