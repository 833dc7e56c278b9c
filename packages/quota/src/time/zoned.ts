import { QuotaError } from '../errors/quota-error.ts'
import { shown } from '../errors/shown.ts'

/**
 * Cached, because making one takes longer than formatting a thousand texts. The program defines the zones, so there are
 * few.
 */
const FORMATS = /* @__PURE__ */ new Map<string, Intl.DateTimeFormat>()

/** US English writes month, day, year, then the time. */
const PARTS = /^(\d+)\D(\d+)\D(\d+)\D+(\d+)\D(\d+)\D(\d+)$/

/**
 * Formats an instant as local time, `yyyy-MM-dd HH:mm:ss`, in any language of the machine. Rounds up to the second, so
 * the text is never earlier than the instant.
 *
 * @param instant epoch milliseconds
 * @param timeZone IANA name, for example `Europe/Berlin`
 * @throws {QuotaError} `invalid_options` for a time zone that the machine doesn't know
 */
export function zonedText(instant: number, timeZone: string): string {
  const text = formatOf(timeZone).format(Math.ceil(instant / 1000) * 1000)
  const [, month, day, year, hour, minute, second] = PARTS.exec(text)!
  return `${year!.padStart(4, '0')}-${month}-${day} ${hour}:${minute}:${second}`
}

/** Whether the machine knows the time zone. */
export function isTimeZone(name: string): boolean {
  return FORMATS.has(name) || madeFormat(name) !== undefined
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const kept = FORMATS.get(timeZone)
  if (kept !== undefined) return kept
  const made = madeFormat(timeZone)
  if (made === undefined) {
    const message = `timeZone: expected an IANA time zone, "Europe/Berlin" for example, got ${shown(timeZone)}`
    throw new QuotaError('invalid_options', message)
  }
  FORMATS.set(timeZone, made)
  return made
}

/** `undefined` if the machine doesn't know the zone. */
function madeFormat(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
  } catch {
    return undefined
  }
}

/** Formats an instant as ISO 8601 UTC with milliseconds, `2026-08-06T15:06:26.000Z`. */
export function isoText(instant: number): string {
  return new Date(instant).toISOString()
}
