import { zonedText } from './zoned.ts'

/** IANA name of the zone in which refusals tell the time. */
export const BEIJING_TIME_ZONE = 'Asia/Shanghai'

/**
 * An instant as Beijing local time, `yyyy-MM-dd HH:mm:ss`.
 * Rounded up to the second, so that the text never names a time before the instant.
 *
 * @param instant epoch milliseconds
 */
export function beijingText(instant: number): string {
  return zonedText(instant, BEIJING_TIME_ZONE)
}

/** An instant as ISO 8601 UTC with milliseconds, `2026-08-06T15:06:26.000Z`. */
export function isoText(instant: number): string {
  return new Date(instant).toISOString()
}
