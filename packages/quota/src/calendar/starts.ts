import { DateTime, type IANAZone } from 'luxon'
import type { CalendarAnchor, CalendarPeriod, CalendarWindow } from '../windows/window.ts'
import { instantOf, zoneNamed } from './local-time.ts'

/** A leap year that begins before what is counted; its first Monday. */
const YEAR = 1972
const MONDAY = 3
const DAY_MS = 86_400_000
const LENGTH_MS = { day: DAY_MS, week: 7 * DAY_MS }

/** Most begins of one rule that are kept; requests of one time ask for four. */
const MAX_KNOWN = 100

export type DaysOrMore = Exclude<CalendarPeriod, 'hour'>

/** When periods of a day or more begin, by number. */
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

  /** The last that has begun at an instant. */
  indexAt(at: number): number {
    let index = this.#near(at)
    while (this.at(index) > at) index--
    while (this.at(index + 1) <= at) index++
    return index
  }

  /** The next begin after an instant, from an index on: a period that the clock leaves out has no length. */
  after(instant: number, from: number): number {
    let index = from
    while (this.at(index) <= instant) index++
    return this.at(index)
  }

  /** The number of the period that an instant is in, or of one close by: zones are less than a day from UTC. */
  #near(at: number): number {
    if (this.#every === 'day' || this.#every === 'week') {
      return Math.floor((at - this.#first.toMillis()) / LENGTH_MS[this.#every])
    }
    const { year, month } = DateTime.fromMillis(at, { zone: 'utc' })
    return this.#every === 'year' ? year - YEAR : (year - YEAR) * 12 + month - 1
  }
}

/** A local time at which a period begins, of which all others follow. */
function firstStart(
  { every, weekStartsOn = 1 }: CalendarWindow,
  { month = 1, day = 1, time = '00:00' }: CalendarAnchor,
): DateTime {
  const [hour, minute] = time.split(':').map(Number) as [number, number]
  const dayOf = (of: number, on: number): DateTime => DateTime.utc(YEAR, of, on, hour, minute)
  if (every === 'week') return dayOf(1, MONDAY + weekStartsOn - 1)
  // January has all days of months, and this year all of years: what follows is cut where a month is shorter.
  if (every === 'month') return dayOf(1, day)
  if (every === 'year') return dayOf(month, Math.min(day, dayOf(month, 1).daysInMonth!))
  return dayOf(1, 1)
}
