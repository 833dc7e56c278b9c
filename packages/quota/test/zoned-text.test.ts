import fc from 'fast-check'
import { DateTime } from 'luxon'
import { expect, it } from 'vitest'
import { QuotaError } from '../src/index.ts'
import { zonedText } from '../src/time/zoned.ts'

it.each([
  ['2026-08-06T15:06:26.000Z', 'Asia/Shanghai', '2026-08-06 23:06:26'],
  ['2026-08-06T15:59:59.001Z', 'Asia/Shanghai', '2026-08-07 00:00:00'],
  ['2026-08-06T16:00:00.000Z', 'Asia/Shanghai', '2026-08-07 00:00:00'],
  ['2026-01-01T00:00:00.000Z', 'UTC', '2026-01-01 00:00:00'],
  ['2026-03-29T00:59:59.999Z', 'Europe/Berlin', '2026-03-29 03:00:00'],
  ['2026-10-25T01:30:00.000Z', 'Europe/Berlin', '2026-10-25 02:30:00'],
  ['2026-11-01T08:00:00.000Z', 'America/St_Johns', '2026-11-01 04:30:00'],
  ['2026-01-01T12:00:00.000Z', 'Asia/Kathmandu', '2026-01-01 17:45:00'],
  ['1969-12-31T23:59:59.999Z', 'UTC', '1970-01-01 00:00:00'],
  ['9999-12-31T23:59:59.000Z', 'UTC', '9999-12-31 23:59:59'],
])('zoned text of %s in %s is %s', (instant, zone, text) => {
  expect(zonedText(Date.parse(instant), zone)).toBe(text)
})

it('zoned text equals luxon’s in every zone', () => {
  const zones = Intl.supportedValuesOf('timeZone')
  const instants = fc.integer({ min: Date.UTC(1975, 0, 1), max: Date.UTC(2100, 0, 1) })
  fc.assert(
    fc.property(instants, fc.constantFrom(...zones), (instant, zone) => {
      const wholeSecond = Math.ceil(instant / 1000) * 1000
      const expected = DateTime.fromMillis(wholeSecond, { zone, locale: 'en-US' }).toFormat('yyyy-MM-dd HH:mm:ss')
      expect(zonedText(instant, zone)).toBe(expected)
    }),
    { numRuns: 2_000 },
  )
})

it.each(['', 'Asia/Peking2', 'A'.repeat(1_000_000)])('zoned text rejects an unknown time zone', (zone) => {
  expect(() => zonedText(0, zone)).toThrow(QuotaError)
  expect(() => zonedText(0, zone)).toThrow(/timeZone: expected an IANA time zone, "Europe\/Berlin" for example, got "/)
})
