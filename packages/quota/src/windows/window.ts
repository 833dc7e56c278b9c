/** A window that opens with the first admitted request and ends `lengthMs` later. */
export interface RollingWindow {
  /** Name in settings, status, bodies and headers, for example `1h`: 1 to 32 of `A-Z a-z 0-9 _ -`. */
  readonly label: string
  /** Length in milliseconds, 1 second to 366 days. */
  readonly lengthMs: number
  readonly every?: undefined
}

/** A window that is a period of the calendar: it opens at the period's start and ends where the next one begins. */
export interface CalendarWindow {
  /** Name in settings, status, bodies and headers, for example `month`: 1 to 32 of `A-Z a-z 0-9 _ -`. */
  readonly label: string
  readonly every: CalendarPeriod
  /** IANA name of the zone whose calendar it is, for example `Asia/Shanghai`. */
  readonly timeZone: string
  /**
   * First day of a week, 1 (Monday) to 7 (Sunday); for `every: 'week'` alone.
   * @default 1
   */
  readonly weekStartsOn?: number | undefined
  /**
   * Where periods begin, if not at the calendar's own beginning; `'subject'`: where each subject's stored settings say,
   * such as the day on which a customer is billed.
   */
  readonly anchor?: CalendarAnchor | 'subject' | undefined
  readonly lengthMs?: undefined
}

/** Where periods of a calendar window begin. */
export interface CalendarAnchor {
  /** Month, 1 to 12, of a year. @default 1 */
  readonly month?: number | undefined
  /** Day of the month, 1 to 31, of a month or year; in a shorter month its last day. @default 1 */
  readonly day?: number | undefined
  /** Time of day, `HH:mm`, of a day, week, month or year. @default '00:00' */
  readonly time?: string | undefined
}

/** The periods that a calendar window can have. */
export const CALENDAR_PERIODS = ['hour', 'day', 'week', 'month', 'year'] as const
export type CalendarPeriod = (typeof CALENDAR_PERIODS)[number]

/** A limit over time: a label people read, and how long it counts. */
export type WindowDefinition = RollingWindow | CalendarWindow

/** Shortest rolling window, in milliseconds. */
export const MIN_WINDOW_MS = 1_000
/** Longest rolling window, in milliseconds. */
export const MAX_WINDOW_MS: number = 366 * 86_400_000

/** `used` of a window that a reset closed, or that never opened. */
export const CLOSED = -1

/** Most tokens that a window counts: what was used stays a safe integer. */
export const MAX_USED: number = Number.MAX_SAFE_INTEGER

/**
 * How long a row is kept after its last window ended, so that a clock stepping back a little finds it again. In
 * milliseconds.
 */
export const GRACE_MS = 60_000

/** In a reply's state: the start of a window that is not open. */
export const NOT_OPEN = -1

/**
 * A window that starts further than this ahead of the clock was opened by a clock that once ran ahead; it is moved to
 * the present (keeping what was used), or its users would be locked out until that future. In milliseconds.
 */
export const MAX_AHEAD_MS = 5_000
