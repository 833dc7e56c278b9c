import type { Bucket } from '../../api/api.ts'

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** What the page shows: the last 7 days, or one of them in the browser's time zone. Epoch milliseconds. */
export interface Range {
  /** In the address; empty for the week. */
  readonly day: string
  readonly since: number
  readonly until: number
  /** Narrow enough to tell a minute of trouble from an hour, and wide enough to be seen. */
  readonly bucketMinutes: 10 | 30
}

/** @param day from the address; the week if it isn't a day */
export function rangeOf(day: string, now: number): Range {
  const start = new Date(`${day}T00:00`)
  if (!DAY.test(day) || Number.isNaN(start.getTime()))
    return { day: '', since: now - 7 * 86_400_000, until: now, bucketMinutes: 30 }
  // Days of 23 and 25 hours.
  const end = new Date(start.getFullYear(), start.getMonth(), start.getDate() + 1)
  return { day, since: start.getTime(), until: end.getTime(), bucketMinutes: 10 }
}

/** The day of an instant, as the address has it. */
export function dayOf(at: number): string {
  const date = new Date(at)
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

/** The days of which there is something to show, newest first. */
export function daysBefore(now: number): string[] {
  const date = new Date(now)
  return Array.from({ length: 8 }, (_day, ago) =>
    dayOf(new Date(date.getFullYear(), date.getMonth(), date.getDate() - ago, 12).getTime()),
  )
}

/** What a chart, a step of it or a range counts. */
export type Counts = Pick<Bucket, 'calls' | 'codeZero' | 'serverError' | 'clientError' | 'businessFail'>

export function sumOf(buckets: readonly Counts[]): Counts {
  const sum = (of: (bucket: Counts) => number): number => buckets.reduce((total, each) => total + of(each), 0)
  return {
    calls: sum(({ calls }) => calls),
    codeZero: sum(({ codeZero }) => codeZero),
    serverError: sum(({ serverError }) => serverError),
    clientError: sum(({ clientError }) => clientError),
    businessFail: sum(({ businessFail }) => businessFail),
  }
}

/** A share of all requests, 0 to 1. */
export function shareOf(count: number, { calls }: Counts): number {
  return calls === 0 ? 0 : count / calls
}
