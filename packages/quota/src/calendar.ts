/**
 * Calendar windows, on luxon: this entry alone needs it.
 *
 * @module
 */
export { luxonCalendar } from './calendar/luxon-calendar.ts'
export type { Calendar, OwnAnchor, TwoPeriods } from './windows/kinds/calendar.ts'
