import type { Move } from '../api/api.ts'

/** What a review did to the factor, and why. */
export interface Verdicts {
  readonly lowered: (from: string, to: string, because: string) => string
  readonly raised: (from: string, to: string, because: string) => string
  readonly stays: (at: string, because: string) => string
}

export const failures = {
  title: 'Errors',
  about: 'How requests ended, which operations failed, and how the adaptive factor reacted.',
  range: 'Range',
  week: 'The last 7 days',
  axisShare: '↑ Share of requests that failed',
  axisFactor: 'Adaptive factor ↑',
  axisTime: (zone: string) => `Time in ${zone} →`,
  chart: 'Share of requests that failed, and the adaptive factor',
  chartKeys: 'Use the arrow keys to move between steps.',
  zoomKeys: 'Press Enter to see the day of a step.',
  codeZero: 'No response (httpStatus 0)',
  otherServer: 'Other server errors (500 and above)',
  business: 'Business failures (returnCode isn’t 1)',
  factor: 'Adaptive factor',
  calls: 'Requests',
  client: 'Client errors',
  rate: 'Failure rate',
  share: (count: string, share: string) => `${count} (${share})`,
  from: 'From',
  step: (from: string, to: string) => `${from} – ${to}`,
  none: 'No requests in this range.',
  asTable: 'Show the failures as a table',
  noFailed: 'No steps with failures.',
  byOperation: 'Server errors by operation',
  operation: 'Operation',
  status: 'Status',
  count: 'Errors',
  last: 'Last',
  noErrors: 'No server errors in this range.',
  moves: 'Moves of the adaptive factor',
  movesAbout: 'Latest moves, newest first.',
  noMoves: 'The factor hasn’t moved yet.',
  now: 'Factor now',
  active: 'Adaptive mode is on. The gateway reviews the factor every minute.',
  failed: (level: string, at: string) => `Errors began at ${level}. It is tried again at ${at} or later.`,
  inactive: (mode: string) => `The mode is ${mode}. The factor has no effect and doesn’t move.`,
  wouldDo: 'If reviewed now',
  lastTick: 'Last review',
}

export const reasons: Readonly<Record<Move['code'], string>> = {
  errors_high: 'errors are clearly above the high rate',
  errors_low: 'errors are below the low rate',
  trial: 'a level that failed is tried for some minutes, and its errors may show later',
  little_traffic: 'there’s too little traffic to judge',
  in_vain: 'lower limits haven’t helped against the errors',
  steady: 'the counts call for no move',
}

export const verdicts: Verdicts = verdictsWith('Lowered', 'Raised', 'Stays')

/** For a preview, without a review. */
export const wouldVerdicts: Verdicts = verdictsWith('Would fall', 'Would rise', 'Would stay')

function verdictsWith(lowered: string, raised: string, stays: string): Verdicts {
  return {
    lowered: (from, to, because) => `${lowered} from ${from} to ${to}: ${because}.`,
    raised: (from, to, because) => `${raised} from ${from} to ${to}: ${because}.`,
    stays: (at, because) => `${stays} at ${at}: ${because}.`,
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
