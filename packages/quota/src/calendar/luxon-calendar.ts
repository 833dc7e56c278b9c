import { DateTime, IANAZone } from 'luxon'
import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'
import type {
  Calendar,
  CalendarAnchor,
  CalendarPeriod,
  CalendarWindow,
  OwnAnchor,
  TwoPeriods,
} from '../windows/kinds/calendar.ts'

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

/** A leap year before the counted years. Counting starts on its first Monday. */
const YEAR = 1972
const MONDAY = 3
const DAY_MS = 86_400_000
const LENGTH_MS = { day: DAY_MS, week: 7 * DAY_MS }

/** The most cached starts per rule. Requests at one time need four. */
const MAX_KNOWN = 100

type DaysOrMore = Exclude<CalendarPeriod, 'hour'>

/** Starts of periods of a day or more, by number. */
class Starts {
  readonly #zone: IANAZone
  readonly #every: DaysOrMore
  readonly #first: DateTime
  readonly #known = new Map<number, number>()

  /** @throws {QuotaError} `invalid_policy` for a time zone that the machine doesn't know */
  constructor(window: CalendarWindow, every: DaysOrMore, anchor: CalendarAnchor) {
    this.#zone = zoneNamed(window.timeZone)
    this.#every = every
    this.#first = firstStart(window, anchor)
  }

  at(index: number): number {
    const known = this.#known.get(index)
    if (known !== undefined) return known
    const start = instantOf(this.#zone, this.#first.plus({ [this.#every]: index }).toMillis())
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(index, start)
    return start
  }

  /** The last start at or before an instant. */
  indexAt(at: number): number {
    let index = this.#near(at)
    while (this.at(index) > at) index--
    while (this.at(index + 1) <= at) index++
    return index
  }

  /** Returns the first start after an instant, searching from an index. A period that the clock skips has no length. */
  after(instant: number, from: number): number {
    let index = from
    while (this.at(index) <= instant) index++
    return this.at(index)
  }

  /** Returns the number of an instant's period, or a close one: zones are less than a day from UTC. */
  #near(at: number): number {
    if (this.#every === 'day' || this.#every === 'week') {
      return Math.floor((at - this.#first.toMillis()) / LENGTH_MS[this.#every])
    }
    const { year, month } = DateTime.fromMillis(at, { zone: 'utc' })
    return this.#every === 'year' ? year - YEAR : (year - YEAR) * 12 + month - 1
  }
}

/** Returns a local time at which a period starts. All others follow from it. */
function firstStart(
  { every, weekStartsOn = 1 }: CalendarWindow,
  { month = 1, day = 1, time = '00:00' }: CalendarAnchor,
): DateTime {
  const [hour, minute] = time.split(':').map(Number) as [number, number]
  const dayOf = (of: number, on: number): DateTime => DateTime.utc(YEAR, of, on, hour, minute)
  if (every === 'week') return dayOf(1, MONDAY + weekStartsOn - 1)
  // January has all days of a month, and this year has all days of a year. In shorter months, starts move to the last
  // day.
  if (every === 'month') return dayOf(1, day)
  if (every === 'year') return dayOf(month, Math.min(day, dayOf(month, 1).daysInMonth!))
  return dayOf(1, 1)
}

const HOUR_MS = 3_600_000

/**
 * Returns the current hour of a zone's clock, and the next one. An hour starts whenever the clock shows a full hour,
 * even for the second time. Hours only differ in length if the clock is changed by less than an hour.
 */
function hoursAt(zone: IANAZone, at: number): TwoPeriods {
  const before = offsetAt(zone, at - 2 * HOUR_MS)
  const after = offsetAt(zone, at + 4 * HOUR_MS)
  if (before === after) {
    const start = fullHour(at, before)
    return [start, start + HOUR_MS, start + 2 * HOUR_MS]
  }
  // A full hour that the clock skips starts when it would have started.
  const leftOut = Math.max(0, after - before)
  const starts = [
    ...fullHours(at, before).filter((start) => offsetAt(zone, start - leftOut) === before),
    ...fullHours(at, after).filter((start) => offsetAt(zone, start) === after),
  ].sort((a, b) => a - b)
  const start = starts.findLast((each) => each <= at)!
  const end = starts.find((each) => each > at)!
  return [start, end, starts.find((each) => each > end)!]
}

/**
 * Returns the full hours of a clock with this offset, from more than an hour before an instant to more than two hours
 * after it.
 */
function fullHours(at: number, offset: number): number[] {
  const start = fullHour(at, offset)
  return [-1, 0, 1, 2, 3, 4].map((hours) => start + hours * HOUR_MS)
}

function fullHour(at: number, offset: number): number {
  const local = at + offset
  return Math.floor(local / HOUR_MS) * HOUR_MS - offset
}

/**
 * Local times are represented as in luxon and `Date`: as the epoch milliseconds at which a UTC clock shows them. An
 * offset is how far a zone's clock is ahead of UTC, in milliseconds.
 */

const MINUTE_MS = 60_000

/** @throws {QuotaError} `invalid_policy` for a time zone that the machine doesn't know */
function zoneNamed(name: string): IANAZone {
  const zone = IANAZone.create(name)
  if (zone.isValid) return zone
  throw new QuotaError('invalid_policy', `expected an IANA time zone, "Europe/Berlin" for example, got ${shown(name)}`)
}

function offsetAt(zone: IANAZone, instant: number): number {
  // Historical local mean times aren't whole minutes from UTC.
  return Math.round(zone.offset(instant) * MINUTE_MS)
}

/**
 * Returns when a zone's clock first shows a local time. A skipped time is as long after the start of the gap as it
 * would be without the gap. Both follow RFC 5545, section 3.3.5.
 */
function instantOf(zone: IANAZone, local: number): number {
  // No zone is a day away from UTC, and none changes its clock twice within two days.
  const before = offsetAt(zone, local - DAY_MS)
  const after = offsetAt(zone, local + DAY_MS)
  const first = local - before
  if (before === after || offsetAt(zone, first) === before) return first
  const second = local - after
  return offsetAt(zone, second) === after ? second : first
}
