import type { CalendarAnchor, CalendarWindow, SubjectAnchor } from '@scoregw/quota/internal'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** 4 January 1970 was a Sunday. Weeks are counted from Monday, the 5th. */
const A_MONDAY_MS = 4 * DAY_MS

/** A UTC calendar computed only with `Date`, so that histories don't depend on a time zone library. */
export const utcCalendar = {
  isTimeZone: (name: string): boolean => name === 'UTC',

  periods(window: CalendarWindow, at: number, anchor: SubjectAnchor | null = null): Periods {
    if (window.anchor !== 'subject') return periodsAt(window, at)
    const [start, end] = ownPeriod(window, at, anchor)
    return [start, end, ownPeriod(window, end, anchor)[1]]
  },
}

type Periods = readonly [start: number, end: number, nextEnd: number]

function periodsAt(window: CalendarWindow, at: number): Periods {
  const starts = startsOf(window)
  let index = indexOf(window, at)
  while (starts(index) > at) index--
  while (starts(index + 1) <= at) index++
  return [starts(index), starts(index + 1), starts(index + 2)]
}

/** Uses the old anchor until the end of the period in which it changed, then the new one. */
function ownPeriod(window: CalendarWindow, at: number, anchor: SubjectAnchor | null): readonly [number, number] {
  const { changedAt, was = null, ...now } = anchor ?? {}
  const from = changedAt === undefined ? Number.NEGATIVE_INFINITY : ownPeriod(window, changedAt, was)[1]
  if (at < from) return ownPeriod(window, at, was)
  const [start, end] = periodsAt({ ...window, anchor: now }, at)
  return [Math.max(start, from), end]
}

/** Returns a function from period numbers to starts. Numbers count hours, days, weeks, months or years. */
function startsOf({ every, weekStartsOn = 1, anchor }: CalendarWindow): (index: number) => number {
  const { month = 1, day = 1, time = '00:00' }: CalendarAnchor = typeof anchor === 'object' ? anchor : {}
  const [hours = 0, minutes = 0] = time.split(':').map(Number)
  const timeMs = (60 * hours + minutes) * 60_000
  const dayOf = (year: number, monthIndex: number): number => {
    const lastDay = new Date(Date.UTC(year, monthIndex + 1, 0)).getUTCDate()
    return Date.UTC(year, monthIndex, Math.min(day, lastDay)) + timeMs
  }
  if (every === 'hour') return (index) => index * HOUR_MS
  if (every === 'day') return (index) => index * DAY_MS + timeMs
  if (every === 'week') return (index) => A_MONDAY_MS + (7 * index + weekStartsOn - 1) * DAY_MS + timeMs
  if (every === 'month') return (index) => dayOf(1970 + Math.floor(index / 12), index - 12 * Math.floor(index / 12))
  return (index) => dayOf(1970 + index, month - 1)
}

/** A number close to that of the period at an instant. */
function indexOf({ every }: CalendarWindow, at: number): number {
  const date = new Date(at)
  const years = date.getUTCFullYear() - 1970
  if (every === 'year') return years
  if (every === 'month') return 12 * years + date.getUTCMonth()
  return Math.floor(at / { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS }[every])
}
