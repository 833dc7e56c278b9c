import { describe, expect, it } from 'vitest'
import { faultsOf } from '../../src/options/faults.ts'
import { anchorCheck, everyCheck } from '../../src/windows/kinds/calendar.ts'

const month = { every: 'month', timeZone: 'Asia/Shanghai' }

/** Faults as one line each. */
function faultTexts(window: unknown): string[] {
  return faultsOf(everyCheck({}), window).map(({ path, message }) => `${path}: ${message}`)
}

describe('valid calendar windows', () => {
  it.each([
    month,
    { ...month, weekStartsOn: undefined, anchor: undefined },
    { ...month, every: 'hour' },
    { ...month, every: 'week', weekStartsOn: 7, anchor: { time: '23:59' } },
    { ...month, anchor: { day: 31, time: '06:30' } },
    { ...month, anchor: { day: 31, month: undefined } },
    { ...month, anchor: 'subject' },
    { ...month, every: 'year', anchor: { month: 2, day: 30, time: '00:00' } },
    ...['UTC', 'Asia/Kolkata', 'Asia/Calcutta', 'Etc/GMT+8', 'EST5EDT'].map((timeZone) => ({ ...month, timeZone })),
  ])('the window %j is accepted', (window) => {
    expect(faultTexts(window)).toEqual([])
  })
})

describe('invalid calendar windows', () => {
  const zone = 'timeZone: expected an IANA time zone, "Europe/Berlin" for example, got'
  it.each([
    [null, [': expected an object, got null']],
    ['month', [': expected an object, got a string']],
    [{}, expect.arrayContaining([expect.stringMatching(/^timeZone: missing; expected an IANA time zone/)])],
    [{ ...month, every: 'mounth' }, [expect.stringMatching(/^every: expected "hour" or .*"year", got "mounth"$/)]],
    [{ ...month, every: 'fortnight', weekStartsOn: 1 }, [expect.stringContaining('every: expected')]],
    [{ ...month, timeZone: 'Asia/Shangai' }, [`${zone} "Asia/Shangai"; did you mean "Asia/Shanghai"?`]],
    [{ ...month, timeZone: 'asia/shanghai' }, [`${zone} "asia/shanghai"; did you mean "Asia/Shanghai"?`]],
    [{ ...month, timeZone: 'Asia/shanghai' }, [`${zone} "Asia/shanghai"; did you mean "Asia/Shanghai"?`]],
    [{ ...month, timeZone: 'shanghai' }, [`${zone} "shanghai"; did you mean "Asia/Shanghai"?`]],
    [{ ...month, timeZone: 'Parix' }, [`${zone} "Parix"; did you mean "Europe/Paris"?`]],
    [{ ...month, timeZone: '+08:00' }, [`${zone} "+08:00"`]],
    [{ ...month, timeZone: 'Beijing' }, [`${zone} "Beijing"`]],
    [{ ...month, timeZone: 8 }, [`${zone} 8`]],
    [{ ...month, every: 'week', weekStartsOn: 0 }, ['weekStartsOn: expected a whole number from 1 to 7, got 0']],
    [{ ...month, weekStartsOn: 1 }, ['weekStartsOn: applies only to every: "week", not "month"']],
    [
      { ...month, every: 'hour', anchor: { time: '00:30' } },
      ['anchor: an hour takes no anchor: it begins with the hour'],
    ],
    [{ ...month, every: 'hour', anchor: 'subject' }, ['anchor: an hour takes no anchor: it begins with the hour']],
    [{ ...month, anchor: 'user' }, ['anchor: expected "subject", got "user"']],
    [{ ...month, anchor: 15 }, ['anchor: expected an object, got a number']],
    [{ ...month, anchor: { month: 2 } }, ['anchor.month: a month takes only day and time']],
    [{ ...month, anchor: { dya: 2 } }, ['anchor.dya: unknown key; did you mean "day"?']],
    [
      { ...month, every: 'week', anchor: { day: 2 } },
      ['anchor.day: a week takes only time; its first day is `weekStartsOn`'],
    ],
    [{ ...month, every: 'day', anchor: { day: 2 } }, ['anchor.day: a day takes only time']],
    [{ ...month, anchor: { day: 0 } }, ['anchor.day: expected a whole number from 1 to 31, got 0']],
    [
      { ...month, anchor: { day: 32, time: '24:00' } },
      [
        'anchor.day: expected a whole number from 1 to 31, got 32',
        'anchor.time: expected a time of day from "00:00" to "23:59", got "24:00"',
      ],
    ],
    [
      { ...month, every: 'year', anchor: { month: 13, time: '9:00' } },
      [expect.stringContaining('anchor.month: '), expect.stringContaining('anchor.time: ')],
    ],
    [{ ...month, lengthMs: 5 }, [expect.stringContaining('lengthMs: unknown key')]],
  ])('the faults of %j name the path, the expected value and the actual value', (window, faults) => {
    expect(faultTexts(window)).toEqual(faults)
  })
})

it('a subject’s anchor may have the parts of any period', () => {
  expect(faultsOf(anchorCheck(), { month: 12, day: 31, time: '06:00' })).toEqual([])
  expect(faultsOf(anchorCheck(), {})).toEqual([])
  expect(faultsOf(anchorCheck(), { day: 1.5 })).toHaveLength(1)
})
