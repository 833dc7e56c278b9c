import assert from 'node:assert/strict'
import type { CaseContext, ConformanceCase } from './harness.ts'
import { plainCase } from './port-harness.ts'
import { DAY_MS, HOUR_MS, ONE_WINDOW, Probe, rollingCells, SECOND_MS, SIX_WINDOWS } from './probe.ts'
import type { Table } from './table.ts'

function lasting(...lengthsMs: number[]): Table {
  const cells = rollingCells(...lengthsMs.map((lengthMs, index) => ({ label: `w${index}`, lengthMs })))
  return { ...ONE_WINDOW, cells }
}

/** Asserts that a window ends exactly on time, and that the next one is new. */
async function endsExactly({ store, advance }: CaseContext, lengthMs: number): Promise<void> {
  const probe = new Probe(store, lasting(lengthMs), 1)
  const { now } = await probe.admitted(1)
  await advance(lengthMs - 1)
  const last = await probe.refused(1)
  assert.deepEqual([...last.states], [now, 1])
  await advance(1)
  assert.deepEqual(await probe.states(), [-1, 0])
  const next = await probe.admitted(1)
  assert.deepEqual([...next.states], [now + lengthMs, 1])
}

/** Charges 500 other subjects. */
async function others(probe: Probe, from: number): Promise<void> {
  await Promise.all(Array.from({ length: 500 }, (_, at) => probe.admitted(1, { subject: `other-${from + at}` })))
}

/** Cases about windows: when they open, when they end, and how they are distinguished. */
export const WINDOW_CASES: readonly ConformanceCase[] = [
  ...[
    ['1 second', SECOND_MS],
    ['1,001 milliseconds', 1_001],
    ['1 hour', HOUR_MS],
    ['30 days', 30 * DAY_MS],
    ['366 days', 366 * DAY_MS],
  ].map(
    ([text, lengthMs]): ConformanceCase =>
      plainCase(`a window of ${text} ends to the millisecond`, (context) => endsExactly(context, Number(lengthMs))),
  ),
  plainCase(
    'a window opens with the first admitted request and not with a read or refusal',
    async ({ store, advance }) => {
      const probe = new Probe(store, ONE_WINDOW, 5)
      await probe.refused(6)
      await probe.states()
      await advance(1_000)
      const { now } = await probe.admitted(1)
      await advance(1_000)
      await probe.admitted(1)
      assert.deepEqual(await probe.states(), [now, 2])
    },
  ),
  plainCase('windows of one counter open and end separately', async ({ store, advance }) => {
    const probe = new Probe(store, lasting(1_000, 3_000), 10)
    const { now } = await probe.admitted(1)
    await advance(1_500)
    await probe.admitted(2)
    assert.deepEqual(await probe.states(), [now + 1_500, 2, now, 3])
    await advance(1_000)
    await probe.admitted(4)
    assert.deepEqual(await probe.states(), [now + 2_500, 4, now, 7])
    await advance(500)
    assert.deepEqual(await probe.states(), [now + 2_500, 4, -1, 0])
  }),
  plainCase(
    "windows of 1 second and of 366 days in one counter don't affect each other",
    async ({ store, advance }) => {
      const probe = new Probe(store, lasting(SECOND_MS, 366 * DAY_MS), 100)
      const { now } = await probe.admitted(1)
      for (let day = 1; day <= 5; day++) {
        await advance(60 * DAY_MS)
        await probe.admitted(1)
      }
      assert.deepEqual(await probe.states(), [now + 300 * DAY_MS, 1, now, 6])
    },
  ),
  plainCase("unused tokens aren't carried over into the next window", async ({ store, advance }) => {
    const probe = new Probe(store, ONE_WINDOW, 10)
    await probe.admitted(3)
    await advance(HOUR_MS)
    await probe.admitted(10)
    await probe.refused(1)
  }),
  plainCase('an idle store opens no window', async ({ store, advance }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await probe.admitted(1)
    for (let hour = 0; hour < 30; hour++) await advance(HOUR_MS)
    assert.deepEqual(await probe.starts(), [-1, -1, -1, -1, -1, -1])
  }),
  plainCase('a reset closes only the windows that it names', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await probe.admitted(4, { category: 0 })
    await probe.admitted(4, { category: 1 })
    await probe.admitted(4, { category: 0, subject: 'v' })
    await probe.reset({ category: 0, layers: [0] })
    assert.deepEqual(await probe.states({ layers: [0] }), [-1, 0, -1, 0, -1, 0])
    assert.deepEqual(await probe.used(), [0, 0, 0, 8, 8, 8])
    assert.deepEqual(await probe.used({ category: 1 }), [4, 4, 4, 4, 4, 4])
    assert.deepEqual(await probe.used({ subject: 'v' }), [4, 4, 4, 8, 8, 8])
    await probe.reset({ subject: 'anybody', layers: [1] })
    assert.deepEqual(await probe.used({ subject: 'v' }), [4, 4, 4, 0, 0, 0])
  }),
  plainCase('a reset of closed windows changes nothing', async ({ store }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    await probe.reset()
    assert.deepEqual(await probe.starts(), [-1, -1, -1, -1, -1, -1])
    const { now } = await probe.admitted(10)
    assert.deepEqual(await probe.starts(), [now, now, now, now, now, now])
  }),
  plainCase('a window never opens twice at one instant, even after resets in one millisecond', async ({ store }) => {
    const probe = new Probe(store, ONE_WINDOW, 10)
    const { now } = await probe.admitted(10)
    for (let again = 1; again <= 3; again++) {
      await probe.reset()
      await probe.reset()
      assert.deepEqual(await probe.states(), [-1, 0])
      const { states } = await probe.admitted(10)
      assert.deepEqual([...states], [now + again, 10])
      await probe.refused(1)
    }
    assert.deepEqual(await probe.states(), [now + 3, 10])
  }),
  plainCase('a reset moves only the starts of the windows that it closes', async ({ store, advance }) => {
    const probe = new Probe(store, SIX_WINDOWS, 10)
    const { now } = await probe.admitted(1)
    await probe.reset({ layers: [0] })
    await probe.admitted(1)
    assert.deepEqual(await probe.starts(), [now + 1, now + 1, now + 1, now, now, now])
    await advance(HOUR_MS)
    assert.deepEqual(await probe.starts(), [now + 1, now + 1, now + 1, -1, now, now])
    await advance(1)
    assert.deepEqual(await probe.starts(), [-1, now + 1, now + 1, -1, now, now])
  }),
  plainCase("an open window's count survives whatever happens to others", async ({ store, advance }) => {
    const probe = new Probe(store, SIX_WINDOWS, [5, 5, 5, 10 ** 9, 10 ** 9, 10 ** 9])
    const { now } = await probe.admitted(5)
    await advance(HOUR_MS)
    await others(probe, 0)
    await advance(DAY_MS - HOUR_MS - 1)
    await others(probe, 500)
    assert.deepEqual(await probe.states({ layers: [0] }), [-1, 0, -1, 0, now, 5])
    await probe.refused(1)
  }),
]
