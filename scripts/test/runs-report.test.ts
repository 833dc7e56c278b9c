import { expect, it } from 'vitest'
import { isGreen, type Run, reportOf } from '../runs-report.mjs'

const GREEN: Run = {
  passed: 3,
  skipped: 0,
  failed: [],
  flaky: [],
  errors: [],
  left: [],
  filesMs: {},
  vitestFailed: false,
  durationMs: 1_499,
}
const SLOW = { file: 'a.test.ts', name: 'is quick', message: 'AssertionError: expected 2 to be 1\n    at a.test.ts:1' }
const OTHER = { file: 'b.test.ts', name: 'waits', message: 'Error: Test timed out\n    at b.test.ts:1' }

it('the report counts each test’s failures, most frequent first, with the first lines of its messages', () => {
  const late = { ...SLOW, message: 'AssertionError: expected 3 to be 1' }
  const red = { ...GREEN, vitestFailed: true }
  expect(
    reportOf([
      { ...red, failed: [OTHER, SLOW] },
      { ...red, failed: [late], errors: ['read ECONNRESET\n    at x'] },
      { ...GREEN, flaky: [OTHER] },
      { ...GREEN, durationMs: 1_500 },
    ]),
  ).toEqual([
    'run 1: not green (2 failed), 1 s',
    'run 2: not green (1 failed, 1 errors that no test has caught), 1 s',
    'run 3: not green (1 failed beside others, passed by themselves), 1 s',
    'run 4: green, 2 s',
    '1 of 4 runs green',
    '',
    'Failed:',
    '  2 of 4  a.test.ts: is quick',
    '          AssertionError: expected 2 to be 1',
    '          AssertionError: expected 3 to be 1',
    '  1 of 4  b.test.ts: waits',
    '          Error: Test timed out',
    '',
    'Failed beside others, passed by itself:',
    '  1 of 4  b.test.ts: waits',
    '          Error: Test timed out',
    '',
    'Errors that no test has caught:',
    '  1 of 4  read ECONNRESET',
  ])
})

it.each([
  ['a test failed', { failed: [SLOW] }],
  ['a test failed beside others', { flaky: [SLOW] }],
  ['an error was caught by no test', { errors: ['read ECONNRESET'] }],
  ['a test left a file', { left: ['quota-sqlite-x'] }],
  ['Vitest failed', { vitestFailed: true }],
  ['no test ran', { passed: 0 }],
])('a run is not green where %s', (_, found) => {
  expect(isGreen(GREEN)).toBe(true)
  expect(isGreen({ ...GREEN, ...found })).toBe(false)
})
