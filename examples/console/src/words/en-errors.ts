import type { Move } from '../api/api.ts'
import type { RangeName } from '../pages/errors/ranges.ts'

/** The explanation of a review of the factor, by its code, from the factors before and after. */
export type Reasons = Readonly<Record<Exclude<Move['code'], 'other'>, (from: string, to: string) => string>>

/** What the page of errors says. */
export const failures = {
  title: 'Errors',
  about: (minutes: string) =>
    `How requests ended, in steps of ${minutes} minutes, and what the adaptive factor made of it.`,
  range: 'Shown',
  ranges: { '24h': '24 h', '7d': '7 d' } satisfies Record<RangeName, string>,
  axisShare: '↑ Share of requests that failed',
  axisFactor: 'Adaptive factor ↑',
  axisTime: (zone: string) => `Time in ${zone} →`,
  chart: 'Share of requests that failed, and the adaptive factor',
  chartKeys: 'Arrow keys move from step to step.',
  codeZero: 'No answer (httpStatus 0)',
  otherServer: 'Other server errors (500 and above)',
  business: 'Business failures (returnCode is not 1)',
  factor: 'Adaptive factor',
  calls: 'Requests',
  client: 'Client errors',
  rate: 'Failure rate',
  share: (count: string, share: string) => `${count} (${share})`,
  totals: { '24h': 'The last 24 hours', '7d': 'The last 7 days' } satisfies Record<RangeName, string>,
  from: 'From',
  step: (from: string, to: string) => `${from} – ${to}`,
  none: 'There were no requests.',
  asTable: 'The chart as a table',
  tableAbout: (rows: string) => `${rows} steps, the newest first`,
  onlyFailed: 'Only steps with failures',
  noFailed: 'No step had failures.',
  utc: (zone: string) => `Times are in ${zone}.`,
  moves: 'Moves of the adaptive factor',
  movesAbout: 'The last moves, the newest first.',
  noMoves: 'The factor has not moved yet.',
  at: 'When',
  move: 'Move',
  why: 'Why',
  now: 'Factor now',
  active: 'Mode adaptive is on: the factor is reviewed every minute.',
  wall: (levels: string, at: string) => `Errors began at ${levels}; tested again from ${at} on.`,
  levels: (low: string, high: string) => (low === high ? low : `${low} to ${high}`),
  wallAbout:
    'The factor had risen to these levels when errors came, so it went back below them. Each is tested for five minutes before the factor rises to it. A failed test doubles the wait, from 2 hours up to 8.',
  wallTitle: 'Wall',
  inactive: (mode: string) => `The mode is ${mode}: the factor does not count, and does not move.`,
  wouldDo: 'If reviewed now',
  lastTick: 'Last review',
}

export const reasons: Reasons = {
  errors_high: (from: string, to: string) => `Lowered from ${from} to ${to}: errors are surely above the high rate.`,
  returned: (from: string, to: string) =>
    `Lowered from ${from} to ${to}: back to the factor before the rises that are to blame.`,
  probe: (from: string, to: string) => `Raised from ${from} to ${to} for a few minutes, to test the level again.`,
  probe_over: (from: string, to: string) =>
    `Lowered from ${from} to ${to}: the test is over, its errors may still come.`,
  probe_failed: (_from: string, to: string) => `The test failed: ${to} is as much as the service carries.`,
  probe_passed: (from: string, to: string) => `Raised from ${from} to ${to}: the test of this level passed.`,
  errors_low: (from: string, to: string) => `Raised from ${from} to ${to}: errors are below the low rate.`,
  quiet_fall: (from: string, to: string) => `Lowered from ${from} to ${to}, towards 1: too little traffic to judge by.`,
  quiet_rise: (from: string, to: string) => `Raised from ${from} to ${to}, towards 1: too little traffic to judge by.`,
  steady: (_from: string, to: string) => `Stays at ${to}: the counts ask for no move.`,
  waiting: (_from: string, to: string) => `Stays at ${to}: the counts ask for a move, but the last one is too recent.`,
  capped: (_from: string, to: string) =>
    `Stays at ${to}: errors are low, but higher levels had errors and are tested only later.`,
  probing: (_from: string, to: string) => `Stays at ${to} for a few minutes, to test this level.`,
  listening: (_from: string, to: string) => `Stays at ${to}: a higher level was tested, its errors may still come.`,
  at_limit: (_from: string, to: string) => `Stays at ${to}: the counts ask for more, but this is the limit.`,
  quiet: (_from: string, to: string) => `Stays at ${to}: too little traffic to judge by.`,
}

/** Of a judgement that is not made. */
export const wouldReasons: Reasons = {
  errors_high: (from: string, to: string) => `Would fall from ${from} to ${to}: errors are surely above the high rate.`,
  returned: (from: string, to: string) =>
    `Would fall from ${from} to ${to}: back to the factor before the rises that are to blame.`,
  probe: (from: string, to: string) => `Would rise from ${from} to ${to} for a few minutes, to test the level again.`,
  probe_over: (from: string, to: string) =>
    `Would fall from ${from} to ${to}: the test is over, its errors may still come.`,
  probe_failed: (_from: string, to: string) => `The test would have failed: ${to} is as much as the service carries.`,
  probe_passed: (from: string, to: string) => `Would rise from ${from} to ${to}: the test of this level passed.`,
  errors_low: (from: string, to: string) => `Would rise from ${from} to ${to}: errors are below the low rate.`,
  quiet_fall: (from: string, to: string) =>
    `Would fall from ${from} to ${to}, towards 1: too little traffic to judge by.`,
  quiet_rise: (from: string, to: string) =>
    `Would rise from ${from} to ${to}, towards 1: too little traffic to judge by.`,
  steady: (_from: string, to: string) => `Would stay at ${to}: the counts ask for no move.`,
  waiting: (_from: string, to: string) =>
    `Would stay at ${to}: the counts ask for a move, but the last one is too recent.`,
  capped: (_from: string, to: string) =>
    `Would stay at ${to}: errors are low, but higher levels had errors and are tested only later.`,
  probing: (_from: string, to: string) => `Would stay at ${to} for a few minutes, to test this level.`,
  listening: (_from: string, to: string) =>
    `Would stay at ${to}: a higher level was tested, its errors may still come.`,
  at_limit: (_from: string, to: string) => `Would stay at ${to}: the counts ask for more, but this is the limit.`,
  quiet: (_from: string, to: string) => `Would stay at ${to}: too little traffic to judge by.`,
}

export const reasonCounts = (
  errors: string,
  calls: string,
  low: string,
  high: string,
  recent: string,
  recentCalls: string,
) =>
  `${errors} of ${calls} requests failed in the last 30 minutes (likely ${low} to ${high}), ${recent} of ${recentCalls} in the last 5.`
