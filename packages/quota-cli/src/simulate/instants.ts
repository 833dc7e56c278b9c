import { DateTime } from 'luxon'

/** The end of the year 9999. Numbers outside 1970 to 9999 are not read as times. */
const LATEST = Date.UTC(10_000, 0, 1)

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const OF_LOG = /^(\d{1,2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))? ([+-])(\d{2}):?(\d{2})$/
const OF_DIGITS = /^\d{1,19}(?:\.\d{1,9})?$/
const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?<zone> ?(?:Z|[+-]\d{2}:?\d{2}))?$/i

/** Reads the times of a log. Adjacent lines often have the same time, so the last one is cached. */
export class Instants {
  readonly #timeZone: string
  #lastText: unknown
  #last: number | undefined
  #dayText = '1970-01-01'
  #day = 0
  #serverDayText = '01/Jan/1970'
  #serverDay = 0

  /** @param timeZone for times without a zone */
  constructor(timeZone: string) {
    this.#timeZone = timeZone
  }

  /** Epoch milliseconds; `undefined` if the value is not a time. */
  read(value: unknown): number | undefined {
    if (value === this.#lastText) return this.#last
    const at = typeof value === 'number' ? ofNumber(value) : this.#ofText(value)
    this.#lastText = value
    this.#last = at !== undefined && at >= 0 && at < LATEST ? Math.floor(at) : undefined
    return this.#last
  }

  #ofText(value: unknown): number | undefined {
    if (typeof value !== 'string' || value.length > 64) return undefined
    const usual = this.#ofUtc(value) ?? this.#ofServer(value)
    if (usual !== undefined) return usual
    if (OF_DIGITS.test(value)) return ofNumber(Number(value))
    return this.#ofIso(value) ?? ofLog(value)
  }

  /** Reads the form of `toISOString()`, which most loggers write; `undefined` for all other forms. */
  #ofUtc(text: string): number | undefined {
    if (text.length !== 24 || text[23] !== 'Z' || text[10] !== 'T' || text[19] !== '.') return undefined
    const hour = twoDigits(text, 11)
    const minute = twoDigits(text, 14)
    const second = twoDigits(text, 17)
    const ms = twoDigits(text, 20) * 10 + (text.charCodeAt(22) - ZERO)
    if (!(hour < 24 && minute < 60 && second < 60 && ms < 1_000) || text[13] !== ':' || text[16] !== ':')
      return undefined
    return this.#dayOf(text) + ((hour * 60 + minute) * 60 + second) * 1_000 + ms
  }

  /** The start of the day that a text begins with; `NaN` if there is none. */
  #dayOf(text: string): number {
    if (!text.startsWith(this.#dayText)) {
      this.#dayText = text.slice(0, 10)
      this.#day = Date.parse(this.#dayText)
    }
    return this.#day
  }

  /** Reads the form of servers in the common log format; `undefined` for all other forms, and for leap seconds. */
  #ofServer(text: string): number | undefined {
    if (text.length !== 26 || text[2] !== '/' || text[11] !== ':' || text[20] !== ' ') return undefined
    const hour = twoDigits(text, 12)
    const minute = twoDigits(text, 15)
    const second = twoDigits(text, 18)
    const ahead = twoDigits(text, 22) * 60 + twoDigits(text, 24)
    const isTime = hour < 24 && minute < 60 && second < 60 && text[14] === ':' && text[17] === ':' && ahead < 6_000
    if (!isTime || (text[21] !== '+' && text[21] !== '-')) return undefined
    if (!text.startsWith(this.#serverDayText)) {
      const day = ofLog(`${text.slice(0, 11)}:00:00:00 +0000`)
      if (day === undefined) return undefined
      this.#serverDayText = text.slice(0, 11)
      this.#serverDay = day
    }
    const minutes = hour * 60 + minute - (text[21] === '-' ? -ahead : ahead)
    return this.#serverDay + (minutes * 60 + second) * 1_000
  }

  #ofIso(text: string): number | undefined {
    const { groups } = ISO.exec(text) ?? {}
    if (groups === undefined) return undefined
    const iso = text
      .replace(/^(.{10}) /, '$1T')
      .replace(',', '.')
      .replace(/ (?=Z|[+-])/i, '')
    const at =
      groups.zone === undefined
        ? DateTime.fromISO(iso, { zone: this.#timeZone }).toMillis()
        : Date.parse(withColon(iso))
    return Number.isNaN(at) ? undefined : at
  }
}

const ZERO = 48

/** `NaN` if either character is not a digit. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - ZERO
  const ones = text.charCodeAt(at + 1) - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}

/** Only some engines read `+0200`. */
function withColon(iso: string): string {
  return iso.replace(/([+-]\d{2})(\d{2})$/, '$1:$2')
}

/** Converts seconds, milliseconds, microseconds or nanoseconds. From 1973 on their sizes don't overlap. */
function ofNumber(value: number): number | undefined {
  if (!Number.isFinite(value)) return undefined
  if (value < 1e11) return value * 1_000
  if (value < 1e14) return value
  return value < 1e17 ? value / 1e3 : value / 1e6
}

function ofLog(text: string): number | undefined {
  const [whole, day, name, year, hour, minute, second, fraction = '0', sign, zoneHours, zoneMinutes] =
    OF_LOG.exec(text) ?? []
  const month = MONTHS.indexOf(name ?? '')
  if (whole === undefined || month === -1) return undefined
  const clock = Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute), Number(second))
  const ahead = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000
  const isDay = new Date(Date.UTC(Number(year), month, Number(day))).getUTCDate() === Number(day)
  const isTime = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 61
  return isDay && isTime ? clock + Number(`0.${fraction}`) * 1_000 - (sign === '-' ? -ahead : ahead) : undefined
}
