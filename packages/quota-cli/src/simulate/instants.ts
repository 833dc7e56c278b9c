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
    return OF_DIGITS.test(value) ? ofNumber(Number(value)) : (this.#ofIso(value) ?? ofLog(value))
  }

  #ofIso(text: string): number | undefined {
    const { groups } = ISO.exec(text) ?? {}
    if (groups === undefined) return undefined
    const iso = text
      .replace(/^(.{10}) /, '$1T')
      .replace(',', '.')
      .replace(/ (?=Z|[+-])/i, '')
    const at = groups.zone === undefined ? DateTime.fromISO(iso, { zone: this.#timeZone }).toMillis() : Date.parse(iso)
    return Number.isNaN(at) ? undefined : at
  }
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
