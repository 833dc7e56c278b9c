import { IANAZone } from 'luxon'
import type { Calendar, CalendarAnchor, CalendarWindow, OwnAnchor, TwoPeriods } from '../windows/kinds/calendar.ts'
import { type DaysOrMore, hoursAt, Starts, zoneNamed } from './starts.ts'

/**
 * A calendar made with luxon, which has the zones that the machine's ICU has.
 *
 * A month's 29th to 31st are the last day of a month without them, and come back. A beginning that a zone's clock leaves
 * out, as summer time begins, moves forward by as much as the clock does; one that it shows twice is at the first of the
 * two instants. An hour begins whenever the clock shows a full hour. Periods tile the time line: none overlaps another,
 * and nothing is between them.
 *
 * @example
 * createQuota({ policy, calendar: luxonCalendar() })
 */
export function luxonCalendar(): Calendar {
  return { isTimeZone: (name) => IANAZone.isValidZone(name), periods }
}

/** @throws {QuotaError} `invalid_policy` for a zone that the machine does not know */
function periods(window: CalendarWindow, at: number, anchor: OwnAnchor | null = null): TwoPeriods {
  return window.anchor === 'subject' ? ownPeriods(window, at, anchor) : periodsAt(window, at, window.anchor ?? {})
}

/**
 * A changed anchor applies from the end of the period in which it was changed. From there to the first start under the
 * new anchor is a period too, a short one.
 */
function ownPeriods(window: CalendarWindow, at: number, anchor: OwnAnchor | null): TwoPeriods {
  const { changedAt, was = null, ...now } = anchor ?? {}
  if (changedAt === undefined) return periodsAt(window, at, now)
  const [, changed] = ownPeriods(window, changedAt, was)
  if (at >= changed) {
    const [start, end, nextEnd] = periodsAt(window, at, now)
    return [Math.max(start, changed), end, nextEnd]
  }
  const [start, end, nextEnd] = ownPeriods(window, at, was)
  return [start, end, end < changed ? nextEnd : periodsAt(window, changed, now)[1]]
}

/** How many rules have cached starts: zones by anchors, which are mostly days of a month. */
const MAX_KEPT = 1_000
const KEPT = /* @__PURE__ */ new Map<string, Starts>()

/** The window's period of an instant, and the next, for an anchor that never changed. */
function periodsAt(window: CalendarWindow, at: number, anchor: CalendarAnchor): TwoPeriods {
  if (window.every === 'hour') return hoursAt(zoneNamed(window.timeZone), at)
  const starts = startsOf(window, window.every, anchor)
  const index = starts.indexAt(at)
  const end = starts.after(at, index + 1)
  return [starts.at(index), end, starts.after(end, index + 2)]
}

function startsOf(window: CalendarWindow, every: DaysOrMore, anchor: CalendarAnchor): Starts {
  const { month, day, time } = anchor
  const rule = `${every} ${window.timeZone} ${window.weekStartsOn} ${month} ${day} ${time}`
  const kept = KEPT.get(rule)
  if (kept !== undefined) return kept
  const made = new Starts(window, every, anchor)
  if (KEPT.size >= MAX_KEPT) KEPT.clear()
  KEPT.set(rule, made)
  return made
}
