import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../../src/calendar.ts'
import type { CalendarWindow, OwnAnchor } from '../../src/windows/kinds/calendar.ts'

type Rule = Omit<CalendarWindow, 'label'>

const calendar = luxonCalendar()

/** The two periods as ISO text of their three instants, to the minute. */
function periodStarts(rule: Rule, at: string, anchor?: OwnAnchor | null): string[] {
  const periods = calendar.periods({ label: 'w', ...rule }, Date.parse(at), anchor)
  return periods.map((instant) => new Date(instant).toISOString().replace(':00.000Z', 'Z'))
}

describe('a subject’s own anchor', () => {
  const rule: Rule = { every: 'month', timeZone: 'UTC', anchor: 'subject' }
  const changed = { day: 20, was: { day: 5 }, changedAt: Date.parse('2026-03-10T00:00Z') }
  it.each<[string, OwnAnchor | null | undefined, string, string[]]>([
    [
      'of a subject without one: the calendar begins it',
      null,
      '2026-03-10T00:00Z',
      ['2026-03-01T00:00Z', '2026-04-01T00:00Z', '2026-05-01T00:00Z'],
    ],
    ['of nobody', undefined, '2026-03-10T00:00Z', ['2026-03-01T00:00Z', '2026-04-01T00:00Z', '2026-05-01T00:00Z']],
    [
      'never changed',
      { day: 15 },
      '2026-03-10T00:00Z',
      ['2026-02-15T00:00Z', '2026-03-15T00:00Z', '2026-04-15T00:00Z'],
    ],
    [
      'before the change',
      changed,
      '2026-03-04T23:59Z',
      ['2026-02-05T00:00Z', '2026-03-05T00:00Z', '2026-04-05T00:00Z'],
    ],
    [
      'changed in this period: it goes on to its end',
      changed,
      '2026-03-31T00:00Z',
      ['2026-03-05T00:00Z', '2026-04-05T00:00Z', '2026-04-20T00:00Z'],
    ],
    ['then a short one', changed, '2026-04-05T00:00Z', ['2026-04-05T00:00Z', '2026-04-20T00:00Z', '2026-05-20T00:00Z']],
    [
      'then by the new one',
      changed,
      '2026-04-20T00:00Z',
      ['2026-04-20T00:00Z', '2026-05-20T00:00Z', '2026-06-20T00:00Z'],
    ],
    [
      'back to the calendar',
      { was: { day: 31 }, changedAt: Date.parse('2026-02-28T00:00Z') },
      '2026-03-30T00:00Z',
      ['2026-02-28T00:00Z', '2026-03-31T00:00Z', '2026-04-01T00:00Z'],
    ],
    [
      'from the calendar',
      { day: 2, was: null, changedAt: Date.parse('2026-02-28T23:59Z') },
      '2026-03-01T00:00Z',
      ['2026-03-01T00:00Z', '2026-03-02T00:00Z', '2026-04-02T00:00Z'],
    ],
    [
      'changed again before it counted: no period is cut',
      { day: 12, was: changed, changedAt: Date.parse('2026-03-25T00:00Z') },
      '2026-03-25T00:00Z',
      ['2026-03-05T00:00Z', '2026-04-05T00:00Z', '2026-04-12T00:00Z'],
    ],
  ])('a subject’s own anchor, %s', (_, anchor, at, expected) => {
    expect(periodStarts(rule, at, anchor)).toEqual(expected)
  })

  it('only windows with the anchor "subject" use a subject’s own anchor', () => {
    expect(periodStarts({ every: 'month', timeZone: 'UTC' }, '2026-03-10T00:00Z', changed)[0]).toBe('2026-03-01T00:00Z')
    const fixed: Rule = { every: 'month', timeZone: 'UTC', anchor: { day: 7 } }
    expect(periodStarts(fixed, '2026-03-10T00:00Z', changed)[0]).toBe('2026-03-07T00:00Z')
  })

  it('each period uses the parts of a subject’s anchor that it needs', () => {
    const own = { month: 6, day: 15, time: '06:00' }
    expect(periodStarts({ ...rule, every: 'day' }, '2026-03-10T05:00Z', own)[0]).toBe('2026-03-09T06:00Z')
    expect(periodStarts({ ...rule, every: 'week' }, '2026-03-10T05:00Z', own)[0]).toBe('2026-03-09T06:00Z')
    expect(periodStarts({ ...rule, every: 'year' }, '2026-03-10T05:00Z', own)[0]).toBe('2025-06-15T06:00Z')
  })
})
