import type { CalendarAnchor, CalendarPeriod, CalendarWindow } from '../window.ts'
import { type Kind, parsedLength } from './kind.ts'

/** A window that is a period of the calendar: what starts at the period's beginning or later is open. */
export const calendar: Kind = {
  isWindow: true,
  after: (_, __, period) => period!.start - 1,
  opensAt: (_, period) => period!.start,
  lasting(_, __, periodNow) {
    const { start, end } = periodNow()
    return { lengthMs: end - start, endsAt: end }
  },
  lengthOf(rest) {
    const end = rest.indexOf(' ')
    return end === -1 ? undefined : parsedLength(rest.slice(0, end))
  },
}

/** Longer than any period of the calendar, whatever a zone does to its clocks. In milliseconds. */
const LONGEST_MS: Readonly<Record<CalendarPeriod, number>> = {
  hour: 3 * 3_600_000,
  day: 2 * 86_400_000,
  week: 9 * 86_400_000,
  month: 33 * 86_400_000,
  year: 368 * 86_400_000,
}

/** What stands behind kind and label in the identity: the same text for all ways of writing the same rule. */
export function calendarRule(window: CalendarWindow): { readonly lengthMs: number; readonly text: string } {
  const { every, timeZone, weekStartsOn, anchor } = window
  const lengthMs = LONGEST_MS[every]
  const week = every === 'week' ? ` ${weekStartsOn ?? 1}` : ''
  const begin = anchor === 'subject' ? 'subject' : anchorText(every, anchor)
  return { lengthMs, text: `${lengthMs} ${every} ${timeZone}${week} ${begin}` }
}

function anchorText(every: CalendarPeriod, { month = 1, day = 1, time = '00:00' }: CalendarAnchor = {}): string {
  if (every === 'year') return `${month}-${day} ${time}`
  return every === 'month' ? `${day} ${time}` : time
}
