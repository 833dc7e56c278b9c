import { IANAZone } from 'luxon'
import type { Calendar, CalendarAnchor, CalendarWindow, OwnAnchor, TwoPeriods } from '../windows/kinds/calendar.ts'
import { type DaysOrMore, hoursAt, Starts, zoneNamed } from './starts.ts'

/**
 * Makes a calendar with luxon. It knows the time zones of the machine's ICU.
 *
 * For an anchor on the 29th to 31st, shorter months use their last day. A start that the clock skips when summer time
 * begins moves forward by as much as the clock. A start that the clock shows twice is the first of the two. An hour
 * starts whenever the clock shows a full hour. Periods have no overlaps and no gaps.
 *
 * @example
 * createQuota({ policy, calendar: luxonCalendar() })
 */
export function luxonCalendar(): Calendar {
  return { isTimeZone: (name) => IANAZone.isValidZone(name), periods }
}

/** @throws {QuotaError} `invalid_policy` for a time zone that the machine doesn't know */
function periods(window: CalendarWindow, at: number, anchor: OwnAnchor | null = null): TwoPeriods {
  return window.anchor === 'subject' ? ownPeriods(window, at, anchor) : periodsAt(window, at, window.anchor ?? {})
}

/**
 * A changed anchor applies from the end of the period in which it was changed. The time until the new anchor's first
 * start is a short period of its own.
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

/** The most rules with cached starts. A rule is a zone with an anchor, and most anchors are days of a month. */
const MAX_KEPT = 1_000
const KEPT = /* @__PURE__ */ new Map<string, Starts>()

/** Returns the period at an instant and the next one, for an anchor that never changed. */
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
