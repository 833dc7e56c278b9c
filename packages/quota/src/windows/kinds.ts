import { type BucketWindow, bucket, bucketRule } from './kinds/bucket.ts'
import { type CalendarWindow, calendar, calendarRule } from './kinds/calendar.ts'
import { ALWAYS_OPEN, type Kind, type WindowRule } from './kinds/kind.ts'
import { type RollingWindow, rolling, rollingRule } from './kinds/rolling.ts'

/** Slots: how much work is in progress. Only the end of a hold frees one. Time, resets and clocks don't. */
const concurrency: Kind = {
  isWindow: false,
  after: () => ALWAYS_OPEN,
  opensAt: (now) => now,
  lasting: () => ({ lengthMs: null, endsAt: undefined }),
  lengthOf: (rest) => (rest === '' ? Number.POSITIVE_INFINITY : undefined),
}

/**
 * When a limit's count ends. `rolling`: its length after the first request. `calendar`: at the next period.
 * `concurrency`: when the work with the slots ends. `bucket`: it refills token by token.
 */
export type KindName = 'rolling' | 'calendar' | 'bucket' | 'concurrency'

/** All kinds of limits by name. */
export const KINDS: Readonly<Record<KindName, Kind>> = { rolling, calendar, bucket, concurrency }

/** A limit over time: a label for people, and how long it counts. */
export type WindowDefinition = RollingWindow | CalendarWindow | BucketWindow

/** By kind of window: what identifies a window's counter. */
export const WINDOW_RULES: Readonly<Record<string, (window: never) => WindowRule | undefined>> = {
  rolling: rollingRule,
  calendar: calendarRule,
  bucket: bucketRule,
}
