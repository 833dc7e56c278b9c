import { testSeed } from '@scoregw/server-kit'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { luxonCalendar } from '../../src/calendar.ts'
import {
  CALENDAR_PERIODS,
  type CalendarAnchor,
  type CalendarWindow,
  type OwnAnchor,
} from '../../src/windows/kinds/calendar.ts'
import { isDeep, oracleOf, ZONES } from './zones.ts'

const DAY_MS = 86_400_000
/** Longer than two periods and a beginning that was moved. */
const FAR_MS = { hour: 2 * DAY_MS, day: 6 * DAY_MS, week: 18 * DAY_MS, month: 70 * DAY_MS, year: 800 * DAY_MS }

/** Of the deep profile, which makes an oracle for each zone on the way. */
const TIMEOUT_MS = 300_000

const calendar = luxonCalendar()
const seed = testSeed
const options = (runs: number): { readonly seed: number; readonly numRuns: number } => ({
  seed,
  numRuns: isDeep ? runs * 60 : runs,
})

const twoDigits = (max: number): fc.Arbitrary<string> =>
  fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, '0'))

const anchors: fc.Arbitrary<CalendarAnchor> = fc.record(
  {
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.oneof(fc.integer({ min: 1, max: 31 }), fc.integer({ min: 28, max: 31 })),
    time: fc.tuple(fc.oneof(twoDigits(23), twoDigits(3)), twoDigits(59)).map((parts) => parts.join(':')),
  },
  { requiredKeys: [] },
)

const windows: fc.Arbitrary<CalendarWindow & { readonly anchor?: undefined }> = fc.record({
  label: fc.constant('w'),
  every: fc.constantFrom(...CALENDAR_PERIODS),
  timeZone: fc.constantFrom(...ZONES),
  weekStartsOn: fc.integer({ min: 1, max: 7 }),
})

/** Instants of all years, and those around a change of the zone's clock. */
function instantsOf(timeZone: string): fc.Arbitrary<number> {
  const any = fc.integer({ min: Date.UTC(2013, 0), max: Date.UTC(2038, 0) })
  const changes = oracleOf(timeZone).changes.filter((at) => at > Date.UTC(2011, 11) && at < Date.UTC(2038, 0))
  if (changes.length === 0) return any
  const near = fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS })
  return fc.oneof(
    any,
    fc.tuple(fc.constantFrom(...changes), near).map(([at, after]) => at + after),
  )
}

const asked = fc
  .record({ window: windows, anchor: anchors })
  .chain(({ window, anchor }) =>
    fc.record({ window: fc.constant(window), anchor: fc.constant(anchor), at: instantsOf(window.timeZone) }),
  )

/** The periods of an oracle: its last begin until then, and the next two. */
function oracleAt(window: CalendarWindow, anchor: CalendarAnchor, at: number): number[] {
  const far = FAR_MS[window.every]
  const starts = oracleOf(window.timeZone).starts(window, anchor, at - far, at + far)
  const next = starts.findIndex((start) => start > at)
  return starts.slice(next - 1, next + 2)
}

it(
  `random periods equal the oracle’s at any instant by any anchor (seed ${seed})`,
  () => {
    fc.assert(
      fc.property(asked, ({ window, anchor, at }) => {
        expect(calendar.periods({ ...window, anchor }, at)).toEqual(oracleAt(window, anchor, at))
      }),
      options(150),
    )
  },
  TIMEOUT_MS,
)

it(
  `random periods cover time without gaps or overlaps (seed ${seed})`,
  () => {
    fc.assert(
      fc.property(asked, ({ window, anchor, at }) => {
        const anchored = { ...window, anchor }
        const [start, end, nextEnd] = calendar.periods(anchored, at)
        expect(start).toBeLessThanOrEqual(at)
        expect(end).toBeGreaterThan(at)
        expect(calendar.periods(anchored, start)).toEqual([start, end, nextEnd])
        expect(calendar.periods(anchored, end - 1)).toEqual([start, end, nextEnd])
        expect(calendar.periods(anchored, end).slice(0, 2)).toEqual([end, nextEnd])
        expect(calendar.periods(anchored, start - 1)[1]).toBe(start)
      }),
      options(100),
    )
  },
  TIMEOUT_MS,
)

/** What begins under anchors that were changed: the old ones' begins up to the end of that period, then the new ones'. */
function ownStarts(window: CalendarWindow, anchor: OwnAnchor | null, from: number, to: number): number[] {
  const { was = null, changedAt, ...now } = anchor ?? {}
  const starts = oracleOf(window.timeZone).starts(window, now, from, to)
  if (changedAt === undefined) return starts
  const before = ownStarts(window, was, from, to)
  const counts = before.find((start) => start > changedAt)
  if (counts === undefined) return before
  return [...before.filter((start) => start <= counts), ...starts.filter((start) => start > counts)]
}

it(
  `an anchor changed at random applies from the next period, also when it changes twice (seed ${seed})`,
  () => {
    const changed = asked.chain((each) =>
      fc.record({
        asked: fc.constant(each),
        was: fc.option(anchors),
        first: fc.option(anchors),
        ago: fc.double({ min: -1, max: 1, noNaN: true }),
        earlier: fc.double({ min: 0, max: 0.5, noNaN: true }),
      }),
    )
    fc.assert(
      fc.property(changed, ({ asked: { window, anchor, at }, was, first, ago, earlier }) => {
        const every = window.every === 'hour' ? 'day' : window.every
        const own = { ...window, every, anchor: 'subject' } as const
        const far = FAR_MS[every]
        const changedAt = at - Math.round(ago * 0.6 * far)
        const before =
          was === null ? null : { ...was, was: first, changedAt: changedAt - Math.round(earlier * 0.6 * far) }
        const starts = ownStarts(own, { ...anchor, was: before, changedAt }, at - 1.5 * far, at + 2 * far)
        const next = starts.findIndex((start) => start > at)
        const periods = calendar.periods(own, at, { ...anchor, was: before, changedAt })
        expect(periods).toEqual(starts.slice(next - 1, next + 2))
      }),
      options(100),
    )
  },
  TIMEOUT_MS,
)
