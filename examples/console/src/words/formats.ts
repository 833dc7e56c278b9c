/** Numbers and times in a language's format. */
export interface Formats {
  number(value: number): string
  /** A share of one, as a percentage. */
  percent(share: number): string
  factor(value: number): string
  /** @param at epoch milliseconds, or ISO 8601 */
  dateTime(at: number | string): string
  date(at: number | string): string
  time(at: number | string): string
  /** With seconds. */
  timeOfDay(at: number | string): string
  /** Relative to now, such as `3 minutes ago`. Beyond a week, the date. */
  relative(at: number | string, now?: number): string
  /** A day, for the axis of a chart. */
  day(at: number): string
  /** The browser's time zone, with its offset from UTC at that time. */
  zoneAt(at: number | string): string
}

/** In seconds. */
const LENGTHS: readonly (readonly [length: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [1, 'second'],
  [60, 'minute'],
  [3_600, 'hour'],
  [86_400, 'day'],
  [604_800, 'week'],
]

export function formatsOf(language: string): Formats {
  const number = new Intl.NumberFormat(language)
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 })
  const factor = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  const dateTime = new Intl.DateTimeFormat(language, { year: 'numeric', month: 'short', day: 'numeric', ...clock })
  const date = new Intl.DateTimeFormat(language, { year: 'numeric', month: 'short', day: 'numeric' })
  const time = new Intl.DateTimeFormat(language, clock)
  const timeOfDay = new Intl.DateTimeFormat(language, { ...clock, second: '2-digit' })
  const day = new Intl.DateTimeFormat(language, { weekday: 'short', day: 'numeric', month: 'numeric' })
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  const zone = new Intl.DateTimeFormat('en', { timeZoneName: 'longOffset' })
  /** Such as `UTC+08:00`. */
  const offset = (at: Date): string => {
    const name = zone.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    return name.replace('GMT', 'UTC')
  }
  return {
    number: (value) => number.format(value),
    percent: (share) => percent.format(share),
    factor: (value) => factor.format(value),
    dateTime: (at) => dateTime.format(new Date(at)),
    date: (at) => date.format(new Date(at)),
    time: (at) => time.format(new Date(at)),
    timeOfDay: (at) => timeOfDay.format(new Date(at)),
    relative(at, now = Date.now()) {
      const seconds = (new Date(at).getTime() - now) / 1_000
      const [length, unit] = LENGTHS.findLast(([each]) => Math.abs(seconds) >= each) ?? [1, 'second']
      return unit === 'week' ? date.format(new Date(at)) : relative.format(Math.round(seconds / length), unit)
    },
    day: (at) => day.format(at),
    zoneAt: (at) => `${dateTime.resolvedOptions().timeZone} (${offset(new Date(at))})`,
  }
}
