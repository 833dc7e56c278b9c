import type { IANAZone } from 'luxon'
import type { TwoPeriods } from '../windows/calendar.ts'
import { offsetAt } from './local-time.ts'

const HOUR_MS = 3_600_000

/**
 * The hour of a zone's clock that an instant is in, and the next. One begins whenever the clock shows a full hour, also
 * where it shows it for the second time: only a clock that is changed by less than an hour makes one shorter or longer.
 */
export function hoursAt(zone: IANAZone, at: number): TwoPeriods {
  const before = offsetAt(zone, at - 2 * HOUR_MS)
  const after = offsetAt(zone, at + 4 * HOUR_MS)
  if (before === after) {
    const start = fullHour(at, before)
    return [start, start + HOUR_MS, start + 2 * HOUR_MS]
  }
  // A full hour that the clock leaves out comes when it would have come.
  const leftOut = Math.max(0, after - before)
  const starts = [
    ...fullHours(at, before).filter((start) => offsetAt(zone, start - leftOut) === before),
    ...fullHours(at, after).filter((start) => offsetAt(zone, start) === after),
  ].sort((a, b) => a - b)
  const start = starts.findLast((each) => each <= at)!
  const end = starts.find((each) => each > at)!
  return [start, end, starts.find((each) => each > end)!]
}

/** Those of a clock with this offset, from more than an hour before an instant to more than two after it. */
function fullHours(at: number, offset: number): number[] {
  const start = fullHour(at, offset)
  return [-1, 0, 1, 2, 3, 4].map((hours) => start + hours * HOUR_MS)
}

function fullHour(at: number, offset: number): number {
  const local = at + offset
  return Math.floor(local / HOUR_MS) * HOUR_MS - offset
}
