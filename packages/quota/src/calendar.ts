/**
 * Calendar windows. Only this entry needs luxon.
 *
 * @module
 */
export { luxonCalendar } from './calendar/luxon-calendar.ts'
export type { Calendar, OwnAnchor, TwoPeriods } from './windows/kinds/calendar.ts'
