import type { TwoPeriods } from '../windows/calendar.ts'
import type { CalendarAnchor, CalendarWindow } from '../windows/window.ts'
import { hoursAt } from './hours.ts'
import { zoneNamed } from './local-time.ts'
import { type DaysOrMore, Starts } from './starts.ts'

/** Most rules whose begins are kept: zones by anchors, which are days of a month mostly. */
const MAX_KEPT = 1_000
const KEPT = /* @__PURE__ */ new Map<string, Starts>()

/** The period of a window that an instant is in, and the one after it, where periods begin by one anchor ever. */
export function periodsAt(window: CalendarWindow, at: number, anchor: CalendarAnchor): TwoPeriods {
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
