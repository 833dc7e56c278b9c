import type { CalendarAnchor, CalendarWindow } from '../../src/windows/kinds/calendar.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** No clock is changed twice in so short a time. */
const STEP_MS = 6 * DAY_MS

/** A time in which a zone's clock goes on evenly, that much ahead of UTC. */
interface Stretch {
  readonly from: number
  readonly to: number
  readonly offset: number
}

/**
 * When periods begin, by `Intl.DateTimeFormat` and `Date.UTC` alone. All changes of a zone's clock are looked for, and
 * every date is tried in each of the stretches between them.
 */
export class Oracle {
  readonly #format: Intl.DateTimeFormat
  readonly #stretches: readonly Stretch[]

  /** Knows of the years from one to another, both included, and a little more. */
  constructor(timeZone: string, firstYear: number, lastYear: number) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    this.#stretches = this.#stretchesOf(Date.UTC(firstYear - 3, 0), Date.UTC(lastYear + 3, 0))
  }

  /** The instants at which the clock is changed. */
  get changes(): readonly number[] {
    return this.#stretches.slice(1).map(({ from }) => from)
  }

  /** When periods begin between two instants, in order, each once. */
  starts(window: CalendarWindow, anchor: CalendarAnchor, from: number, to: number): number[] {
    const locals = localStarts(window, anchor, from - 3 * DAY_MS, to + 3 * DAY_MS)
    const all = locals.flatMap((local) => {
      const shown = this.#showing(local)
      return window.every === 'hour' ? shown : [shown[0]!]
    })
    const within = all.filter((start) => start >= from && start < to)
    return [...new Set(within)].sort((a, b) => a - b)
  }

  /** When the clock shows a local time: in each of the stretches that have it, or else after the gap. */
  #showing(local: number): number[] {
    const near = this.#near(local)
    const shown: number[] = []
    for (const { from, to, offset } of near) {
      const instant = local - offset
      if (instant >= from && instant < to) shown.push(instant)
    }
    if (shown.length > 0) return shown
    const gap = near.findIndex(({ from, offset }) => local < from + offset)
    return [local - near[gap - 1]!.offset]
  }

  /** The stretches that may have a local time: an offset is less than a day, and a stretch is longer than two. */
  #near(local: number): readonly Stretch[] {
    let [low, high] = [0, this.#stretches.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (this.#stretches[middle]!.from <= local) low = middle
      else high = middle
    }
    return this.#stretches.slice(Math.max(0, low - 1), low + 2)
  }

  #stretchesOf(from: number, to: number): Stretch[] {
    const stretches: Stretch[] = []
    let start = from
    let offset = this.#offset(from)
    for (let at = from + STEP_MS; at < to; at += STEP_MS) {
      const now = this.#offset(at)
      if (now === offset) continue
      const change = this.#changeIn(at - STEP_MS, at, offset)
      stretches.push({ from: start, to: change, offset })
      start = change
      offset = now
    }
    return [...stretches, { from: start, to: Number.POSITIVE_INFINITY, offset }]
  }

  /** The first second that has another offset than the one before. */
  #changeIn(before: number, after: number, offset: number): number {
    let [low, high] = [before, after]
    while (high - low > 1_000) {
      const middle = Math.floor((low + high) / 2_000) * 1_000
      if (this.#offset(middle) === offset) low = middle
      else high = middle
    }
    return high
  }

  #offset(instant: number): number {
    const text = this.#format.format(instant)
    const [month, day, year, hour, minute, second] = text.split(/\D+/).map(Number) as [number, number, ...number[]]
    return Date.UTC(year!, month - 1, day, hour, minute, second) - instant
  }
}

/** Where periods begin by the clock, as if it were one in UTC. */
function localStarts(
  { every, weekStartsOn = 1 }: CalendarWindow,
  { month = 1, day = 1, time = '00:00' }: CalendarAnchor,
  from: number,
  to: number,
): number[] {
  const ofDay = Number(time.slice(0, 2)) * HOUR_MS + Number(time.slice(3)) * 60_000
  const first = new Date(from)
  if (every === 'hour') return stepsOf(HOUR_MS, 0, from, to)
  if (every === 'day') return stepsOf(DAY_MS, ofDay, from, to)
  // 1970 began on a Thursday.
  if (every === 'week') return stepsOf(7 * DAY_MS, (weekStartsOn - 4) * DAY_MS + ofDay, from, to)
  const starts: number[] = []
  for (let number = first.getUTCMonth(); (starts.at(-1) ?? from) < to; number++) {
    if (every === 'year' && (number % 12) + 1 !== month) continue
    const lastDay = new Date(Date.UTC(first.getUTCFullYear(), number + 1, 0)).getUTCDate()
    starts.push(Date.UTC(first.getUTCFullYear(), number, Math.min(day, lastDay)) + ofDay)
  }
  return starts
}

function stepsOf(step: number, start: number, from: number, to: number): number[] {
  const first = Math.floor((from - start) / step) * step + start
  return Array.from({ length: Math.ceil((to - first) / step) + 1 }, (_, index) => first + index * step)
}
