import type { Policy } from '@scoregw/quota'

type Window = Policy['windows'][number]

/** The shortest and the longest that a window can last, in milliseconds. */
export interface Span {
  readonly shortestMs: number
  readonly longestMs: number
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Periods of the calendar with what zones do to them: clocks are put back and forth by up to three hours at a time. */
const PERIODS: Readonly<Record<NonNullable<Window['every']>, Span>> = {
  hour: { shortestMs: HOUR / 4, longestMs: 4 * HOUR },
  day: { shortestMs: DAY - 3 * HOUR, longestMs: 2 * DAY },
  week: { shortestMs: 6 * DAY, longestMs: 8 * DAY },
  month: { shortestMs: 27 * DAY, longestMs: 32 * DAY },
  year: { shortestMs: 364 * DAY, longestMs: 367 * DAY },
}

export function spanOf(window: Window): Span {
  if (window.every === undefined) return { shortestMs: window.lengthMs, longestMs: window.lengthMs }
  // A subject's own beginning may move, which makes one period shorter.
  return window.anchor === 'subject' ? { ...PERIODS[window.every], shortestMs: 1 } : PERIODS[window.every]
}
