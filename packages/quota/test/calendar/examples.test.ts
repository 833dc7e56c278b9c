import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../../src/calendar.ts'
import { QuotaError } from '../../src/index.ts'
import type { CalendarWindow } from '../../src/windows/kinds/calendar.ts'

type Rule = Omit<CalendarWindow, 'label'>

const calendar = luxonCalendar()

/** The two periods as ISO text of their three instants, to the minute. */
function periodStarts(rule: Rule, at: string): string[] {
  const periods = calendar.periods({ label: 'w', ...rule }, Date.parse(at))
  return periods.map((instant) => new Date(instant).toISOString().replace(':00.000Z', 'Z'))
}

const shanghai = 'Asia/Shanghai'

describe('periods of zones without summer time', () => {
  it.each<[Rule, string, string[]]>([
    [
      { every: 'hour', timeZone: shanghai },
      '2026-08-06T15:59:59.999Z',
      ['2026-08-06T15:00Z', '2026-08-06T16:00Z', '2026-08-06T17:00Z'],
    ],
    [
      { every: 'hour', timeZone: 'Asia/Kathmandu' },
      '2026-08-06T15:10Z',
      ['2026-08-06T14:15Z', '2026-08-06T15:15Z', '2026-08-06T16:15Z'],
    ],
    [
      { every: 'day', timeZone: shanghai },
      '2026-08-06T15:59:59.999Z',
      ['2026-08-05T16:00Z', '2026-08-06T16:00Z', '2026-08-07T16:00Z'],
    ],
    [
      { every: 'day', timeZone: shanghai },
      '2026-08-06T16:00Z',
      ['2026-08-06T16:00Z', '2026-08-07T16:00Z', '2026-08-08T16:00Z'],
    ],
    [
      { every: 'day', timeZone: 'UTC', anchor: { time: '06:30' } },
      '2026-08-06T06:29Z',
      ['2026-08-05T06:30Z', '2026-08-06T06:30Z', '2026-08-07T06:30Z'],
    ],
    // 2026-08-06 is a Thursday.
    [
      { every: 'week', timeZone: 'UTC' },
      '2026-08-06T00:00Z',
      ['2026-08-03T00:00Z', '2026-08-10T00:00Z', '2026-08-17T00:00Z'],
    ],
    [
      { every: 'week', timeZone: 'UTC', weekStartsOn: 7 },
      '2026-08-06T00:00Z',
      ['2026-08-02T00:00Z', '2026-08-09T00:00Z', '2026-08-16T00:00Z'],
    ],
    [
      { every: 'week', timeZone: 'UTC', weekStartsOn: 4, anchor: { time: '12:00' } },
      '2026-08-06T11:00Z',
      ['2026-07-30T12:00Z', '2026-08-06T12:00Z', '2026-08-13T12:00Z'],
    ],
    [
      { every: 'month', timeZone: shanghai },
      '2026-07-31T16:00Z',
      ['2026-07-31T16:00Z', '2026-08-31T16:00Z', '2026-09-30T16:00Z'],
    ],
    [
      { every: 'year', timeZone: shanghai },
      '2026-07-31T16:00Z',
      ['2025-12-31T16:00Z', '2026-12-31T16:00Z', '2027-12-31T16:00Z'],
    ],
    [
      { every: 'year', timeZone: 'UTC', anchor: { month: 4 } },
      '2026-03-31T23:59Z',
      ['2025-04-01T00:00Z', '2026-04-01T00:00Z', '2027-04-01T00:00Z'],
    ],
  ])('%j at %s lies in the expected period', (rule, at, expected) => {
    expect(periodStarts(rule, at)).toEqual(expected)
  })
})

describe('days that some months don’t have', () => {
  const month = (day: number): Rule => ({ every: 'month', timeZone: 'UTC', anchor: { day } })
  it.each<[Rule, string, string[]]>([
    [month(31), '2026-02-10T00:00Z', ['2026-01-31T00:00Z', '2026-02-28T00:00Z', '2026-03-31T00:00Z']],
    [month(31), '2026-04-30T00:00Z', ['2026-04-30T00:00Z', '2026-05-31T00:00Z', '2026-06-30T00:00Z']],
    [month(30), '2028-02-29T00:00Z', ['2028-02-29T00:00Z', '2028-03-30T00:00Z', '2028-04-30T00:00Z']],
    [month(29), '2027-02-28T00:00Z', ['2027-02-28T00:00Z', '2027-03-29T00:00Z', '2027-04-29T00:00Z']],
    [
      { every: 'year', timeZone: 'UTC', anchor: { month: 2, day: 29 } },
      '2027-02-28T00:00Z',
      ['2027-02-28T00:00Z', '2028-02-29T00:00Z', '2029-02-28T00:00Z'],
    ],
    [
      { every: 'year', timeZone: 'UTC', anchor: { month: 4, day: 31 } },
      '2026-05-01T00:00Z',
      ['2026-04-30T00:00Z', '2027-04-30T00:00Z', '2028-04-30T00:00Z'],
    ],
  ])('%j at %s lies in the expected period', (rule, at, expected) => {
    expect(periodStarts(rule, at)).toEqual(expected)
  })
})

describe('days when clocks change', () => {
  it.each<[string, Rule, string, string[]]>([
    [
      'a day of 23 hours',
      { every: 'day', timeZone: 'Europe/Berlin' },
      '2026-03-29T10:00Z',
      ['2026-03-28T23:00Z', '2026-03-29T22:00Z', '2026-03-30T22:00Z'],
    ],
    [
      'a day of 25 hours',
      { every: 'day', timeZone: 'Europe/Berlin' },
      '2026-10-25T10:00Z',
      ['2026-10-24T22:00Z', '2026-10-25T23:00Z', '2026-10-26T23:00Z'],
    ],
    [
      'a begin at 02:30 that is left out moves to 03:30',
      { every: 'day', timeZone: 'Europe/Berlin', anchor: { time: '02:30' } },
      '2026-03-29T01:29Z',
      ['2026-03-28T01:30Z', '2026-03-29T01:30Z', '2026-03-30T00:30Z'],
    ],
    [
      'of 02:30 twice the first',
      { every: 'day', timeZone: 'Europe/Berlin', anchor: { time: '02:30' } },
      '2026-10-25T01:15Z',
      ['2026-10-25T00:30Z', '2026-10-26T01:30Z', '2026-10-27T01:30Z'],
    ],
    [
      'both hours from 02:00',
      { every: 'hour', timeZone: 'Europe/Berlin' },
      '2026-10-25T00:59Z',
      ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z'],
    ],
    [
      'no midnight in Sao Paulo',
      { every: 'day', timeZone: 'America/Sao_Paulo' },
      '2018-11-04T12:00Z',
      ['2018-11-04T03:00Z', '2018-11-05T02:00Z', '2018-11-06T02:00Z'],
    ],
    [
      'no midnight in Beirut',
      { every: 'month', timeZone: 'Asia/Beirut', anchor: { day: 29 } },
      '2026-03-29T12:00Z',
      ['2026-03-28T22:00Z', '2026-04-28T21:00Z', '2026-05-28T21:00Z'],
    ],
    [
      'no midnight in Cairo',
      { every: 'day', timeZone: 'Africa/Cairo' },
      '2026-04-24T12:00Z',
      ['2026-04-23T22:00Z', '2026-04-24T21:00Z', '2026-04-25T21:00Z'],
    ],
    [
      'no 30 December in Apia',
      { every: 'day', timeZone: 'Pacific/Apia' },
      '2011-12-30T09:59Z',
      ['2011-12-29T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z'],
    ],
    [
      'no 30 December in Apia, by hours',
      { every: 'hour', timeZone: 'Pacific/Apia' },
      '2011-12-30T09:59Z',
      ['2011-12-30T09:00Z', '2011-12-30T10:00Z', '2011-12-30T11:00Z'],
    ],
    [
      'an hour of 90 minutes on Lord Howe',
      { every: 'hour', timeZone: 'Australia/Lord_Howe' },
      '2026-04-04T15:10Z',
      ['2026-04-04T14:00Z', '2026-04-04T15:30Z', '2026-04-04T16:30Z'],
    ],
    [
      'an hour of 30 minutes on Lord Howe',
      { every: 'hour', timeZone: 'Australia/Lord_Howe' },
      '2026-10-03T15:29Z',
      ['2026-10-03T14:30Z', '2026-10-03T15:30Z', '2026-10-03T16:00Z'],
    ],
    [
      'an hour of 90 minutes in Pyongyang',
      { every: 'hour', timeZone: 'Asia/Pyongyang' },
      '2015-08-14T15:10Z',
      ['2015-08-14T14:00Z', '2015-08-14T15:30Z', '2015-08-14T16:30Z'],
    ],
  ])('%s: periods are as expected', (_, rule, at, expected) => {
    expect(periodStarts(rule, at)).toEqual(expected)
  })
})

it('luxonCalendar knows which time zones exist', () => {
  expect(['UTC', shanghai, 'Asia/Kolkata', 'Asia/Peking', ''].map(calendar.isTimeZone)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
  const wrong = (every: 'hour' | 'day') => () => calendar.periods({ label: 'w', every, timeZone: 'Asia/Peking' }, 0)
  expect(wrong('hour')).toThrow(QuotaError)
  expect(wrong('day')).toThrow(/expected an IANA time zone, "Europe\/Berlin" for example, got "Asia\/Peking"/)
})
