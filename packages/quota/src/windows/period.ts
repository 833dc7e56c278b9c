/** Numbers of a request that say where one calendar window stands: start of a period, its end, the end of the next. */
export const PERIOD_NUMBERS = 3

/** A period of the calendar, epoch milliseconds: `[start, end)`. */
export interface Period {
  readonly start: number
  readonly end: number
}

/** Which of the two periods that begin at `at` an instant is in; `undefined`: neither. */
export function periodAt(now: number, periods: readonly number[] | undefined, at: number): Period | undefined {
  const [start, end, next] = [periods?.[at], periods?.[at + 1], periods?.[at + 2]]
  if (start === undefined || end === undefined || next === undefined) return undefined
  if (now >= start && now < end) return { start, end }
  return now >= end && now < next ? { start: end, end: next } : undefined
}
