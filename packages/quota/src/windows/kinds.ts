import { type BucketWindow, bucket, bucketForm, bucketRule } from './kinds/bucket.ts'
import { type CalendarWindow, calendar, calendarForm, calendarRule } from './kinds/calendar.ts'
import { ALWAYS_OPEN, type Kind, type WindowForm, type WindowRule } from './kinds/kind.ts'
import { type RollingWindow, rolling, rollingForm, rollingRule } from './kinds/rolling.ts'

/** Slots: how much work is in progress. Only the end of a hold frees one: no time, no reset, no clock. */
const concurrency: Kind = {
  isWindow: false,
  after: () => ALWAYS_OPEN,
  opensAt: (now) => now,
  lasting: () => ({ lengthMs: null, endsAt: undefined }),
  lengthOf: (rest) => (rest === '' ? Number.POSITIVE_INFINITY : undefined),
}

/**
 * What ends a limit's count. `rolling`: its length, after its first request. `calendar`: the next period.
 * `concurrency`: the end of the work that holds its slots. A `bucket` refills token by token.
 */
export type KindName = 'rolling' | 'calendar' | 'bucket' | 'concurrency'

/** Every kind of limit by its name. */
export const KINDS: Readonly<Record<KindName, Kind>> = { rolling, calendar, bucket, concurrency }

/** A limit over time: a label that people read, and how long it counts. */
export type WindowDefinition = RollingWindow | CalendarWindow | BucketWindow

/** What identifies the counter of a policy's window, by the kinds of windows. */
export const WINDOW_RULES: Readonly<Record<string, (window: never) => WindowRule | undefined>> = {
  rolling: rollingRule,
  calendar: calendarRule,
  bucket: bucketRule,
}

/** How policies write windows. A window is checked as the first form that it matches. */
export const WINDOW_FORMS: readonly WindowForm[] = [calendarForm, bucketForm, rollingForm]
