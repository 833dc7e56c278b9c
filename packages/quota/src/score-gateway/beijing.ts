import { zonedText } from '../time/zoned.ts'

/** IANA name of the zone in which the specification's refusals name the time. */
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
