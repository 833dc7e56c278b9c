import assert from 'node:assert/strict'
import { type CalendarWindow, windowCell } from '@scoregw/quota/internal'
import { abilityCase, type CaseOf } from './abilities.ts'
import type { CaseContext, Need } from './harness.ts'
import { around } from './kinds.ts'
import type { ContextCase } from './old-case.ts'
import { DAY_MS, idOf, ONE_WINDOW, PERSONAL, Probe, SITE, type TwoPeriods, tokenCells } from './probe.ts'
import type { Table } from './table.ts'

const MINUTE_MS = 60_000
const MONTH: CalendarWindow = { label: 'month', every: 'month', timeZone: 'UTC' }

/** A calendar window in one layer. */
const MONTHLY: Table = { ...ONE_WINDOW, cells: tokenCells(windowCell(MONTH)) }

interface Given extends CaseContext {
  readonly probe: Probe
  /** The start of the clock's period, its end, and the end of the next one. */
  readonly start: number
  readonly end: number
  readonly nextEnd: number
}

function calendarCaseWith(...more: readonly Need[]): CaseOf<Given> {
  return (name, run) =>
    abilityCase(`calendar: ${name}`, ['calendar', ...more], (context) => {
      const period = around(context.clock.now())
      const [start, end, nextEnd] = period
      return run({ ...context, probe: new Probe(context.store, MONTHLY, 10, period), start, end, nextEnd })
    })
}

const calendarCase = calendarCaseWith()

/** Cases about calendar windows. */
export const CALENDAR_CASES: readonly ContextCase[] = [
  calendarCase('a clock outside both periods gives a stale answer and no charge', async (given) => {
    const { probe, advance, clock, nextEnd } = given
    const now = clock.now()
    for (const period of [
      [now + 1, now + MINUTE_MS, now + 2 * MINUTE_MS],
      [now - 2, now - 1, now],
    ] as const) {
      const reply = await probe.take(3, { period })
      assert.deepEqual([reply.outcome, reply.now, [...reply.states]], ['stale', now, []])
      assert.equal(reply.settingsRevision, undefined, 'it is not the settings that are stale')
      const read = await probe.read({ period })
      assert.deepEqual([read.isStale, read.now, [...read.states]], [true, now, []])
    }
    assert.deepEqual(await probe.states(), [-1, 0])
    await advance(nextEnd - now)
    assert.equal((await probe.take(3)).outcome, 'stale')
    const again = await probe.admitted(3, { period: [nextEnd, nextEnd + DAY_MS, nextEnd + 2 * DAY_MS] })
    assert.deepEqual([...again.states], [nextEnd, 3])
  }),
  abilityCase('calendar: a stale request doesn’t use up its id', ['calendar', 'ids'], async ({ store, clock }) => {
    const now = clock.now()
    const probe = new Probe(store, MONTHLY, 10, around(now))
    assert.equal((await probe.take(3, { id: idOf('attempt'), period: [now - 2, now - 1, now] })).outcome, 'stale')
    await probe.admitted(3, { id: idOf('attempt', 'other', 'read:2') })
  }),
  calendarCase('each request has its own periods, even concurrent ones', async (given) => {
    const { probe, store, peer, clock, start, advance } = given
    const now = clock.now()
    const own: TwoPeriods = [now - 1_000, now + 1_000, now + 2_000]
    const stale: TwoPeriods = [now - 2, now - 1, now]
    const asked = [undefined, own, undefined, stale, own, undefined]
    const replies = await Promise.all(
      asked.map((period, index) =>
        probe.take(1, {
          subject: ['a', 'b', 'c'][index % 3] ?? '',
          store: index % 2 ? peer : store,
          ...(period ? { period } : {}),
        }),
      ),
    )
    const outcomes = replies.map(({ outcome }) => outcome)
    assert.deepEqual(outcomes, ['admitted', 'admitted', 'admitted', 'stale', 'admitted', 'admitted'])
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((subject) => probe.states({ subject }))), [
      [start, 1],
      [now - 1_000, 2],
      [start, 2],
    ])
    await advance(1_000)
    assert.deepEqual(await probe.states({ subject: 'b', period: own }), [-1, 0])
    assert.deepEqual(await probe.states({ subject: 'a' }), [start, 1])
  }),
  calendarCase('each layer has its own periods', async ({ store, clock, advance }) => {
    const now = clock.now()
    const probe = new Probe(store, { ...MONTHLY, layers: [PERSONAL, SITE] }, 10)
    const periods = [now - 5, now + 5, now + 10, now - 7, now + 1_000, now + 2_000]
    assert.deepEqual([...(await probe.admitted(4, { periods })).states], [now - 5, 4, now - 7, 4])
    await advance(5)
    assert.deepEqual([...(await probe.admitted(4, { periods })).states], [now + 5, 4, now - 7, 8])
    await probe.refused(4, { periods })
    await advance(5)
    assert.equal((await probe.take(1, { periods })).outcome, 'stale', 'one of them is enough')
    const site = { layers: [1], limits: [10], periods: periods.slice(3) }
    assert.deepEqual([...(await probe.admitted(1, site)).states], [now - 7, 9])
  }),
]
