import * as v from 'valibot'
import { type Check, group, oneOf, optional, textLike, wholeNumber } from '../options/checks.ts'
import { expectedText } from '../options/expected.ts'
import { nearest } from '../options/names.ts'
import { isTimeZone } from '../time/zoned.ts'
import { CALENDAR_PERIODS, type CalendarAnchor, type CalendarPeriod, type CalendarWindow } from '../windows/window.ts'

const LABEL = /^[A-Za-z0-9_-]{1,32}$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/
const A_ZONE = 'an IANA time zone, "Europe/Berlin" for example'

/** What of an anchor means something, by period. */
const ANCHORED_BY: Readonly<Record<CalendarPeriod, readonly string[]>> = {
  hour: [],
  day: ['time'],
  week: ['time'],
  month: ['day', 'time'],
  year: ['month', 'day', 'time'],
}

/** A calendar window without the member that it has none of. */
type AsWritten = Omit<CalendarWindow, 'lengthMs'> & { readonly unit?: string | undefined }

/** Checks where periods begin; whether a window's period has a use for each member is {@link calendarWindowCheck}'s. */
export function anchorCheck(): Check<CalendarAnchor> {
  return group<CalendarAnchor>({
    month: optional(wholeNumber(1, 12)),
    day: optional(wholeNumber(1, 31)),
    time: optional(textLike(TIME, 'a time of day from "00:00" to "23:59"')),
  })
}

/** Checks a window of the calendar, with the same texts wherever one is defined. It needs no calendar for that. */
export function calendarWindowCheck(): Check<CalendarWindow> {
  const members = group<AsWritten>({
    label: textLike(LABEL, '1 to 32 of A-Z a-z 0-9 _ -'),
    every: oneOf(...CALENDAR_PERIODS),
    timeZone: timeZoneCheck(),
    weekStartsOn: optional(wholeNumber(1, 7)),
    anchor: optional(windowAnchor()),
    unit: optional(textLike(LABEL, 'the name of a unit')),
  })
  return v.pipe(members, noNeedlessMembers()) as Check<CalendarWindow>
}

function windowAnchor(): Check<CalendarAnchor | 'subject'> {
  const own = anchorCheck()
  const subject = oneOf('subject')
  return v.lazy<Check<CalendarAnchor | 'subject'>>((value) => (typeof value === 'string' ? subject : own))
}

/** Reports members that a window of its period would ignore: their author means another window. */
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
      : [{ keys: ['weekStartsOn'], message: `is for every: "week" alone; this window is of every: "${every}"` }]
  if (anchor === undefined) return ofWeek
  const heeded = ANCHORED_BY[every]
  if (heeded.length === 0)
    return [...ofWeek, { keys: ['anchor'], message: 'an hour has none: it begins with the hour' }]
  const members = Object.entries(Object(anchor === 'subject' ? {} : anchor))
  const needless = members.filter(([key, member]) => member !== undefined && isNeedless(key, heeded))
  return [...ofWeek, ...needless.map(([key]) => ({ keys: ['anchor', key], message: instead(every, key) }))]
}

/** A member that no anchor has is reported as an unknown key. */
function isNeedless(key: string, heeded: readonly string[]): boolean {
  return ANCHORED_BY.year.includes(key) && !heeded.includes(key)
}

function instead(every: CalendarPeriod, key: string): string {
  const message = `a ${every} is anchored by ${ANCHORED_BY[every].join(' and ')} alone`
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

/** A zone by the name that everybody writes: counters are recognised by it. */
function timeZoneCheck(): Check<string> {
  return v.custom<string>(isZoneName, ({ input }) => {
    const meant = typeof input === 'string' ? nearestZone(input) : undefined
    return `${expectedText(A_ZONE, input)}${meant === undefined ? '' : `; did you mean "${meant}"?`}`
  })
}

/** Some machines know offsets and every spelling of a name. Those would be other counters for the same zone. */
function isZoneName(value: unknown): boolean {
  if (typeof value !== 'string' || !/^[A-Z]/.test(value) || !isTimeZone(value)) return false
  const known = new Intl.DateTimeFormat('en-US', { timeZone: value }).resolvedOptions().timeZone
  return known === value || known.toLowerCase() !== value.toLowerCase()
}

/** By the whole name, else by the city: `Shanghai` is `Asia/Shanghai`. */
function nearestZone(name: string): string | undefined {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]
  const asWritten = nearest(name, zones)
  if (asWritten !== undefined || name.includes('/')) return asWritten
  const city = (zone: string): string => zone.slice(zone.lastIndexOf('/') + 1)
  const nearestCity = nearest(name, zones.map(city))
  return zones.find((zone) => city(zone) === nearestCity)
}
