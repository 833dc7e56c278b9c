import { expect, it } from 'vitest'
import { readLimits, readRetryAfter } from '../src/read-limits.ts'
import { documented } from './support/apis.ts'

it.each(documented)('reads $api', ({ headers, limits }) => {
  const read = readLimits(new Headers(headers))
  expect(read.map(({ name, remaining, resetMs }) => [name, remaining, resetMs])).toEqual(limits)
})

it.each([
  ['120', 120_000],
  ['2.0', 2000],
  ['Wed, 21 Oct 2015 07:28:00 GMT', 31_000],
  ['soon', undefined],
  ['', undefined],
  ['-1', undefined],
])('reads Retry-After: %s', (value, ms) => {
  expect(readRetryAfter(new Headers({ 'retry-after': value, date: 'Wed, 21 Oct 2015 07:27:30 GMT' }))).toBe(ms)
})
