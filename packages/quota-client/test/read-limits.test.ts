import { expect, it } from 'vitest'
import { readLimits, readRetryAfter } from '../src/read-limits.ts'
import { documented } from './support/apis.ts'

it.each(documented)('readLimits() reads the headers of $api', ({ headers, limits }) => {
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
  ['1e999', undefined],
  ['1e300', undefined],
  [`${'9'.repeat(400)}h`, undefined],
  ['Fri, 31 Dec 9999 23:59:59 GMT', undefined],
])('readRetryAfter() reads %s', (value, ms) => {
  expect(readRetryAfter(new Headers({ 'retry-after': value, date: 'Wed, 21 Oct 2015 07:27:30 GMT' }))).toBe(ms)
})

it.each([
  { ratelimit: '"a";r=0;t=1e999' },
  { ratelimit: '"a";r=1e999;t=1' },
  { ratelimit: `limit=1, remaining=0, reset=${'9'.repeat(400)}` },
  { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1e999' },
])('readLimits() ignores impossible values: %j', (headers) => {
  expect(readLimits(new Headers(headers))).toEqual([])
})

// Where each letter begins another search, 100,000 of them take 10 seconds or more; otherwise, a few milliseconds.
it.each([
  ['letters', 'a'.repeat(100_000)],
  ['escaped quotes', `"${'\\"'.repeat(50_000)}`],
  ['spaces', `a;${' '.repeat(100_000)}`],
])('readLimits() reads a long field in linear time: %s', (_, text) => {
  const headers = new Headers({ ratelimit: text, 'ratelimit-policy': text })
  const before = process.cpuUsage()
  expect(readLimits(headers)).toEqual([])
  expect(process.cpuUsage(before).user).toBeLessThan(1e6)
})
