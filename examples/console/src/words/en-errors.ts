import type { Move } from '../api/api.ts'
import type { RangeName } from '../pages/errors/ranges.ts'

/** Why a review moved the factor or left it, by the review's code, from the factors before and after. */
export type Reasons = Readonly<Record<Exclude<Move['code'], 'other'>, (from: string, to: string) => string>>

export const failures = {
  title: 'Errors',
  about: (minutes: string) =>
    `How requests ended, in steps of ${minutes} minutes, and how the adaptive factor reacted.`,
  range: 'Range',
  ranges: { '24h': '24 h', '7d': '7 d' } satisfies Record<RangeName, string>,
  axisShare: '↑ Share of requests that failed',
  axisFactor: 'Adaptive factor ↑',
  axisTime: (zone: string) => `Time in ${zone} →`,
  chart: 'Share of requests that failed, and the adaptive factor',
  chartKeys: 'Use the arrow keys to move between steps.',
  codeZero: 'No response (httpStatus 0)',
  otherServer: 'Other server errors (500 and above)',
  business: 'Business failures (returnCode isn’t 1)',
  factor: 'Adaptive factor',
  calls: 'Requests',
  client: 'Client errors',
  rate: 'Failure rate',
  share: (count: string, share: string) => `${count} (${share})`,
  totals: { '24h': 'The last 24 hours', '7d': 'The last 7 days' } satisfies Record<RangeName, string>,
  from: 'From',
  step: (from: string, to: string) => `${from} – ${to}`,
  none: 'No requests in this range.',
  asTable: 'Show the chart as a table',
  tableAbout: (rows: string) => `${rows} steps, newest first`,
  onlyFailed: 'Show only steps with failures',
  noFailed: 'No steps with failures.',
  utc: (zone: string) => `Times are in ${zone}.`,
  moves: 'Moves of the adaptive factor',
  movesAbout: 'Latest moves, newest first.',
  noMoves: 'The factor hasn’t moved yet.',
  at: 'When',
  move: 'Move',
  why: 'Why',
  now: 'Factor now',
  active: 'Adaptive mode is on. The gateway reviews the factor every minute.',
  wall: (levels: string, at: string) => `Errors began at ${levels}. The next test is at ${at} or later.`,
  levels: (low: string, high: string) => (low === high ? low : `${low} to ${high}`),
  wallAbout:
    'Errors began when the factor reached these levels, so it went back below them. Before it rises to a level again, that level is tested for five minutes. Each failed test doubles the wait, from 2 hours up to 8.',
  wallTitle: 'Wall',
  inactive: (mode: string) => `The mode is ${mode}. The factor has no effect and doesn’t move.`,
  wouldDo: 'If reviewed now',
  lastTick: 'Last review',
}

export const reasons: Reasons = reasonsWith('Lowered', 'Raised', 'Stays', 'The test failed')

/** For a preview, without a review. */
export const wouldReasons: Reasons = reasonsWith('Would fall', 'Would rise', 'Would stay', 'The test would have failed')

function reasonsWith(lowered: string, raised: string, stays: string, failed: string): Reasons {
  return {
    errors_high: (from, to) => `${lowered} from ${from} to ${to}: errors are clearly above the high rate.`,
    returned: (from, to) => `${lowered} from ${from} to ${to}, the factor before the rises that caused errors.`,
    probe: (from, to) => `${raised} from ${from} to ${to} for a few minutes, to test this level again.`,
    probe_over: (from, to) => `${lowered} from ${from} to ${to}: the test is over, but its errors may still arrive.`,
    probe_failed: (_from, to) => `${failed}: ${to} is the most that the service can take.`,
    probe_passed: (from, to) => `${raised} from ${from} to ${to}: this level passed its test.`,
    errors_low: (from, to) => `${raised} from ${from} to ${to}: errors are below the low rate.`,
    quiet_fall: (from, to) => `${lowered} from ${from} to ${to}, towards 1: there’s too little traffic to judge.`,
    quiet_rise: (from, to) => `${raised} from ${from} to ${to}, towards 1: there’s too little traffic to judge.`,
    steady: (_from, to) => `${stays} at ${to}: the counts call for no move.`,
    waiting: (_from, to) => `${stays} at ${to}: the counts call for a move, but the last one is too recent.`,
    capped: (_from, to) => `${stays} at ${to}: errors are low, but higher levels had errors and are tested later.`,
    probing: (_from, to) => `${stays} at ${to} for a few minutes, to test this level.`,
    listening: (_from, to) => `${stays} at ${to}: a higher level was tested, and its errors may still arrive.`,
    at_limit: (_from, to) => `${stays} at ${to}: the counts call for a move, but this is the bound.`,
    quiet: (_from, to) => `${stays} at ${to}: there’s too little traffic to judge.`,
  }
}

export const reasonCounts = (
  errors: string,
  calls: string,
  low: string,
  high: string,
  recent: string,
  recentCalls: string,
) =>
  `${errors} of ${calls} requests failed in the last 30 minutes (likely ${low} to ${high}), and ${recent} of ${recentCalls} in the last 5.`
