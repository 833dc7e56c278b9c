import * as v from 'valibot'
import { type Check, type Checks, group, oneOf, optional, textLike, wholeNumber } from '../../options/checks.ts'
import { expectedText, nearest } from '../../options/faults.ts'
import { isTimeZone } from '../../time/zoned.ts'
import { type Kind, parsedLength, type WindowRule } from './kind.ts'

/** A calendar window. It opens when the period starts, and ends when the next one starts. */
export interface CalendarWindow {
  /** Name in settings, status, bodies and headers, for example `month`: 1 to 32 of `A-Z a-z 0-9 _ -`. */
  readonly label: string
  readonly every: CalendarPeriod
  /** The IANA name of the time zone, for example `Asia/Shanghai`. */
  readonly timeZone: string
  /**
   * First day of a week, 1 (Monday) to 7 (Sunday). Only for `every: 'week'`.
   *
   * @default 1
   */
  readonly weekStartsOn?: number | undefined
  /**
   * When periods start, if not with the calendar. `'subject'`: as each subject's stored settings say, such as the day
   * on which a customer is billed.
   */
  readonly anchor?: CalendarAnchor | 'subject' | undefined
  readonly lengthMs?: undefined
  readonly burst?: undefined
}

/** When periods of a calendar window start. */
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

/** Longer than any calendar period, whatever a zone does with its clock. In milliseconds. */
const LONGEST_MS: Readonly<Record<CalendarPeriod, number>> = {
  hour: 3 * 3_600_000,
  day: 2 * 86_400_000,
  week: 9 * 86_400_000,
  month: 33 * 86_400_000,
  year: 368 * 86_400_000,
}

/** A calendar period. Cells that started in the period are open. */
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

/** Returns the same text for all ways to write a rule. @returns `undefined` for a window of another kind */
export function calendarRule(window: Partial<CalendarWindow>): WindowRule | undefined {
  const { every, timeZone, weekStartsOn, anchor } = window
  if (every === undefined) return undefined
  const lengthMs = LONGEST_MS[every]
  const week = every === 'week' ? ` ${weekStartsOn ?? 1}` : ''
  const begin = anchor === 'subject' ? 'subject' : anchorText(every, anchor)
  return { lengthMs, text: `${lengthMs} ${every} ${timeZone}${week} ${begin}` }
}

function anchorText(every: CalendarPeriod, { month = 1, day = 1, time = '00:00' }: CalendarAnchor = {}): string {
  if (every === 'year') return `${month}-${day} ${time}`
  return every === 'month' ? `${day} ${time}` : time
}

/** Checks a limit with a calendar period. Needs no calendar. @param others see `group()` */
export function everyCheck(common: Checks<object>, others: readonly string[] = []): Check<object> {
  const members = group<AsWritten>(
    {
      ...common,
      every: oneOf(...CALENDAR_PERIODS),
      timeZone: timeZoneCheck(),
      weekStartsOn: optional(wholeNumber(1, 7)),
      anchor: optional(windowAnchor()),
    },
    others,
  )
  return v.pipe(members, noNeedlessMembers()) as Check<object>
}

/** A calendar window as written, without members of other kinds. */
type AsWritten = Omit<CalendarWindow, 'lengthMs' | 'burst' | 'label'>

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/
const A_ZONE = 'an IANA time zone, "Europe/Berlin" for example'

/** The members of an anchor that each period uses. */
const ANCHORED_BY: Readonly<Record<CalendarPeriod, readonly string[]>> = {
  hour: [],
  day: ['time'],
  week: ['time'],
  month: ['day', 'time'],
  year: ['month', 'day', 'time'],
}

/** Checks an anchor. {@link everyCheck} checks whether its members suit the window's period. */
export function anchorCheck(): Check<CalendarAnchor> {
  return group<CalendarAnchor>({
    month: optional(wholeNumber(1, 12)),
    day: optional(wholeNumber(1, 31)),
    time: optional(textLike(TIME, 'a time of day from "00:00" to "23:59"')),
  })
}

function windowAnchor(): Check<CalendarAnchor | 'subject'> {
  const own = anchorCheck()
  const subject = oneOf('subject')
  return v.lazy<Check<CalendarAnchor | 'subject'>>((value) => (typeof value === 'string' ? subject : own))
}

/** Reports members that the window's period would ignore, because the author probably means a different window. */
function noNeedlessMembers(): v.RawCheckAction<AsWritten> {
  return v.rawCheck(({ dataset: { value }, addIssue }) => {
    const window = Object(value) as AsWritten
    if (!CALENDAR_PERIODS.includes(window.every)) return
    for (const { keys, message } of needlessMembers(window)) addIssue({ message, path: pathTo(window, keys) })
  })
}

interface Needless {
  readonly keys: readonly string[]
  readonly message: string
}

function needlessMembers({ every, weekStartsOn, anchor }: AsWritten): Needless[] {
  const ofWeek =
    weekStartsOn === undefined || every === 'week'
      ? []
      : [{ keys: ['weekStartsOn'], message: `applies only to every: "week", not "${every}"` }]
  if (anchor === undefined) return ofWeek
  const heeded = ANCHORED_BY[every]
  if (heeded.length === 0)
    return [...ofWeek, { keys: ['anchor'], message: 'an hour takes no anchor: it begins with the hour' }]
  const members = Object.entries(Object(anchor === 'subject' ? {} : anchor))
  const needless = members.filter(([key, member]) => member !== undefined && isNeedless(key, heeded))
  return [...ofWeek, ...needless.map(([key]) => ({ keys: ['anchor', key], message: instead(every, key) }))]
}

/** Whether the period ignores a member. Unknown members are reported as unknown keys. */
function isNeedless(key: string, heeded: readonly string[]): boolean {
  return ANCHORED_BY.year.includes(key) && !heeded.includes(key)
}

function instead(every: CalendarPeriod, key: string): string {
  const message = `a ${every} takes only ${ANCHORED_BY[every].join(' and ')}`
  return every === 'week' && key === 'day' ? `${message}; its first day is \`weekStartsOn\`` : message
}

function pathTo(root: object, keys: readonly string[]): [v.IssuePathItem, ...v.IssuePathItem[]] {
  let input = root as Record<string, unknown>
  const items = keys.map((key): v.IssuePathItem => {
    const item = { type: 'object', origin: 'value', input, key, value: input[key] } as const
    input = item.value as Record<string, unknown>
    return item
  })
  return items as [v.IssuePathItem, ...v.IssuePathItem[]]
}

/** Checks for a zone's canonical name, because it is part of a counter's identity. */
function timeZoneCheck(): Check<string> {
  return v.custom<string>(isZoneName, ({ input }) => {
    const meant = typeof input === 'string' ? nearestZone(input) : undefined
    return `${expectedText(A_ZONE, input)}${meant === undefined ? '' : `; did you mean "${meant}"?`}`
  })
}

/** Rejects offsets and other spellings, which some machines accept. They would be other counters for the same zone. */
function isZoneName(value: unknown): boolean {
  if (typeof value !== 'string' || !/^[A-Z]/.test(value) || !isTimeZone(value)) return false
  const known = new Intl.DateTimeFormat('en-US', { timeZone: value }).resolvedOptions().timeZone
  return known === value || known.toLowerCase() !== value.toLowerCase()
}

/** Finds a zone by its whole name, else by the city: `Shanghai` is `Asia/Shanghai`. */
function nearestZone(name: string): string | undefined {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const asWritten = nearest(name, zones)
  if (asWritten !== undefined || name.includes('/')) return asWritten
  const city = (zone: string): string => zone.slice(zone.lastIndexOf('/') + 1)
  const nearestCity = nearest(name, zones.map(city))
  return zones.find((zone) => city(zone) === nearestCity)
}

/** When a subject's own periods start, and when they started before the last change. */
export interface OwnAnchor extends CalendarAnchor {
  /**
   * The anchor before the change; `null`: the calendar's start. If it was changed again before it applied, this has all
   * earlier ones.
   */
  readonly was?: OwnAnchor | null | undefined
  /** When it was changed, in epoch milliseconds. It applies from the next period. Absent: never. */
  readonly changedAt?: number | undefined
}

/** Two consecutive periods, epoch milliseconds: the start of the first, its end, and the end of the second. */
export type TwoPeriods = readonly [start: number, end: number, nextEnd: number]

/** Computes the periods of calendar windows. `luxonCalendar()` of `@scoregw/quota/calendar` makes one. */
export interface Calendar {
  /** Whether the time zone exists. */
  isTimeZone(name: string): boolean
  /**
   * Returns the period of an instant, and the next one.
   *
   * @param at epoch milliseconds
   * @param anchor when a subject's periods start, for windows with `anchor: 'subject'`
   */
  periods(window: CalendarWindow, at: number, anchor?: OwnAnchor | null): TwoPeriods
}
