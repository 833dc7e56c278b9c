import type { CalendarAnchor, CalendarWindow } from './kinds/calendar.ts'

/** Where a subject's own periods begin, and where they began before that was changed. */
export interface OwnAnchor extends CalendarAnchor {
  /** Before the change; `null`: at the calendar's beginning. Of one that was changed again before it counted, all of them. */
  readonly was?: OwnAnchor | null | undefined
  /** When it was changed, epoch milliseconds: it counts from the period after that one. Absent: it never was. */
  readonly changedAt?: number | undefined
}

/** Two periods in a row, epoch milliseconds: the start of the first, its end, and the end of the second. */
export type TwoPeriods = readonly [start: number, end: number, nextEnd: number]

/** Computes the periods of calendar windows. `luxonCalendar()` of `@scoregw/quota/calendar` makes one. */
export interface Calendar {
  /** Whether there is a zone of this name. */
  isTimeZone(name: string): boolean
  /**
   * The period that an instant is in, and the one after it.
   *
   * @param at epoch milliseconds
   * @param anchor where a subject's periods begin, for windows with `anchor: 'subject'`
   */
  periods(window: CalendarWindow, at: number, anchor?: OwnAnchor | null): TwoPeriods
}
