import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../../src/calendar.ts'
import type { CalendarAnchor, CalendarWindow } from '../../src/windows/kinds/calendar.ts'
import type { Oracle } from './oracle.ts'
import { FIRST_YEAR, isDeep, LAST_YEAR, oracleOf, ZONES } from './zones.ts'

/** How close to a change of the clock begins are all requested. */
const NEAR_MS = 1.5 * 86_400_000
const calendar = luxonCalendar()

type Rule = Omit<CalendarWindow, 'label' | 'timeZone'> & { readonly anchor?: CalendarAnchor }

const RULES: readonly Rule[] = [
  { every: 'day' },
  { every: 'day', anchor: { time: '02:15' } },
  { every: 'day', anchor: { time: '23:59' } },
  { every: 'week' },
  { every: 'week', weekStartsOn: 7, anchor: { time: '00:30' } },
  { every: 'month' },
  { every: 'month', anchor: { day: 15, time: '12:00' } },
  { every: 'month', anchor: { day: 29, time: '02:30' } },
  { every: 'month', anchor: { day: 31, time: '23:30' } },
  { every: 'year' },
  { every: 'year', anchor: { month: 2, day: 29 } },
  { every: 'year', anchor: { month: 2, day: 31, time: '06:00' } },
  { every: 'year', anchor: { month: 10, day: 31, time: '02:30' } },
]

/** In the deep profile all; else the first ones, which are the oddest, and some of those that come year by year. */
function changesOf(oracle: Oracle): readonly number[] {
  return oracle.changes.filter((_, index) => isDeep || index < 4 || index % 16 === 0)
}

/** Those around changes of the clock, and some in between; in the deep profile each of a list that is not very long. */
function chosen(starts: readonly number[], changes: readonly number[]): number[] {
  const indices = [...starts.keys()].slice(1, -2)
  if (isDeep && starts.length < 100) return indices
  const step = Math.ceil(starts.length / (isDeep ? 60 : 10))
  let change = 0
  return indices.filter((index) => {
    const start = starts[index]!
    while (changes[change] !== undefined && changes[change]! < start - NEAR_MS) change++
    return index % step === 0 || Math.abs((changes[change] ?? 0) - start) < NEAR_MS
  })
}

/** The wrong answers at the first and last millisecond of a period. */
function wrongAt(window: CalendarWindow, starts: readonly number[], index: number): object[] {
  const expected = starts.slice(index, index + 3)
  const asked = [expected[0]!, expected[1]! - 1]
  const answers = asked.map((at) => ({ window, at, expected, found: calendar.periods(window, at) }))
  return answers.filter((each) => String(each.found) !== String(expected))
}

describe.each(ZONES)('periods are those of an oracle on Intl alone: %s', (timeZone) => {
  it('hour periods equal the oracle’s around each change of the clocks', () => {
    const window = { label: 'w', timeZone, every: 'hour' } as const
    for (const change of [Date.UTC(2026, 0), ...changesOf(oracleOf(timeZone))]) {
      const starts = oracleOf(timeZone).starts(window, {}, change - NEAR_MS / 4, change + NEAR_MS / 4)
      const indices = [...starts.keys()].slice(0, -2)
      expect(indices.flatMap((index) => wrongAt(window, starts, index)).slice(0, 3)).toEqual([])
    }
  })

  it.each(RULES)('periods of %j equal the oracle’s', (rule) => {
    const oracle = oracleOf(timeZone)
    const window = { label: 'w', timeZone, ...rule }
    const starts = oracle.starts(window, rule.anchor ?? {}, Date.UTC(FIRST_YEAR, 0), Date.UTC(LAST_YEAR + 1, 0))
    const wrong = chosen(starts, changesOf(oracle)).flatMap((index) => wrongAt(window, starts, index))
    expect(wrong.slice(0, 3)).toEqual([])
  })
})
