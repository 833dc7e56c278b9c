import { DateTime, IANAZone } from 'luxon'
import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'
import type { CalendarAnchor, CalendarPeriod, CalendarWindow, TwoPeriods } from '../windows/kinds/calendar.ts'

/** A leap year that begins before the counted years, on its first Monday. */
const YEAR = 1972
const MONDAY = 3
const DAY_MS = 86_400_000
const LENGTH_MS = { day: DAY_MS, week: 7 * DAY_MS }

/** How many starts of one rule are cached; requests at one time need four. */
const MAX_KNOWN = 100

export type DaysOrMore = Exclude<CalendarPeriod, 'hour'>

/** The starts of periods of a day or more, by number. */
export class Starts {
  readonly #zone: IANAZone
  readonly #every: DaysOrMore
  readonly #first: DateTime
  readonly #known = new Map<number, number>()

  /** @throws {QuotaError} `invalid_policy` for a zone that the machine does not know */
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

  /** The next start after an instant, from an index on. A period that the clock skips has no length. */
  after(instant: number, from: number): number {
    let index = from
    while (this.at(index) <= instant) index++
    return this.at(index)
  }

  /** The number of an instant's period, or of one close to it: zones are less than a day from UTC. */
  #near(at: number): number {
    if (this.#every === 'day' || this.#every === 'week') {
      return Math.floor((at - this.#first.toMillis()) / LENGTH_MS[this.#every])
    }
    const { year, month } = DateTime.fromMillis(at, { zone: 'utc' })
    return this.#every === 'year' ? year - YEAR : (year - YEAR) * 12 + month - 1
  }
}

/** A local time at which a period begins; all others follow from it. */
function firstStart(
  { every, weekStartsOn = 1 }: CalendarWindow,
  { month = 1, day = 1, time = '00:00' }: CalendarAnchor,
): DateTime {
  const [hour, minute] = time.split(':').map(Number) as [number, number]
  const dayOf = (of: number, on: number): DateTime => DateTime.utc(YEAR, of, on, hour, minute)
  if (every === 'week') return dayOf(1, MONDAY + weekStartsOn - 1)
  // January has every day of a month, and this year every day of a year. Later starts are cut in shorter months.
  if (every === 'month') return dayOf(1, day)
  if (every === 'year') return dayOf(month, Math.min(day, dayOf(month, 1).daysInMonth!))
  return dayOf(1, 1)
}

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
  // A full hour that the clock skips begins when it would have begun.
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

/**
 * Local time is represented as in luxon and `Date`: epoch milliseconds at which a clock in UTC would show it. An offset
 * is what a zone's clock is ahead of UTC, in milliseconds.
 */

const MINUTE_MS = 60_000

/** @throws {QuotaError} `invalid_policy` for a zone that the machine does not know */
export function zoneNamed(name: string): IANAZone {
  const zone = IANAZone.create(name)
  if (zone.isValid) return zone
  throw new QuotaError('invalid_policy', `expected an IANA time zone, "Europe/Berlin" for example, got ${shown(name)}`)
}

function offsetAt(zone: IANAZone, instant: number): number {
  // Local mean times of old are no whole minutes.
  return Math.round(zone.offset(instant) * MINUTE_MS)
}

/**
 * When a zone's clock first shows a local time. One that is left out, as the clock goes forward over it, comes as much
 * after the gap's beginning as it would have without the gap: both as RFC 5545 has it, section 3.3.5.
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
