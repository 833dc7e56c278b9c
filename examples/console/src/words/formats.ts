/** Numbers and times as people of a language write them. */
export interface Formats {
  number(value: number): string
  /** A share of one in percent. */
  percent(share: number): string
  /** The adaptive factor. */
  factor(value: number): string
  /** @param at epoch milliseconds, or ISO 8601 */
  dateTime(at: number | string): string
  date(at: number | string): string
  time(at: number | string): string
  /** With seconds. */
  timeOfDay(at: number | string): string
  /** A day for the axis of a chart. */
  day(at: number): string
  /** The browser's time zone, and what it is from UTC at an instant. */
  zoneAt(at: number | string): string
}

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
  const zone = new Intl.DateTimeFormat('en', { timeZoneName: 'longOffset' })
  /** As people write it: `UTC+08:00`. */
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
    day: (at) => day.format(at),
    zoneAt: (at) => `${dateTime.resolvedOptions().timeZone} (${offset(new Date(at))})`,
  }
}
