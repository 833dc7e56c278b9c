const DAY_MS = 86_400_000
/** Beijing has no daylight saving time. */
const OFFSET_MS = 8 * 3_600_000

/** Returns the day in Beijing of an instant, in days since 1 January 1970. */
export function beijingDay(at: number): number {
  return Math.floor((at + OFFSET_MS) / DAY_MS)
}

/** `YYYY-MM-DD` */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** Returns this many consecutive days. The last one contains the instant. */
export function lastBeijingDays(at: number, days: number): number[] {
  const last = beijingDay(at)
  return Array.from({ length: days }, (_, index) => last - days + 1 + index)
}
