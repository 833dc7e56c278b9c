import type { WindowDefinition } from '@scoregw/quota/internal'

/** The shortest and longest duration of a window, in milliseconds. */
export interface Span {
  readonly shortestMs: number
  readonly longestMs: number
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Calendar periods, including changes of the clock by up to three hours. */
const PERIODS: Readonly<Record<NonNullable<WindowDefinition['every']>, Span>> = {
  hour: { shortestMs: HOUR / 4, longestMs: 4 * HOUR },
  day: { shortestMs: DAY - 3 * HOUR, longestMs: 2 * DAY },
  week: { shortestMs: 6 * DAY, longestMs: 8 * DAY },
  month: { shortestMs: 27 * DAY, longestMs: 32 * DAY },
  year: { shortestMs: 364 * DAY, longestMs: 367 * DAY },
}

export function spanOf(window: WindowDefinition): Span {
  if (window.every === undefined) return { shortestMs: window.lengthMs, longestMs: window.lengthMs }
  // A subject's own beginning may move, which shortens one period.
  return window.anchor === 'subject' ? { ...PERIODS[window.every], shortestMs: 1 } : PERIODS[window.every]
}
