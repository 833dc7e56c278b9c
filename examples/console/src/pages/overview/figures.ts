import type { Overview } from '../../api/api.ts'
import { shareOf, totalOf } from './endings.tsx'

type SharedLimit = NonNullable<Overview['shared']>[number]

/** Minutes over which shares are taken. */
export const LAST_MINUTES = 5
/** Seconds over which the rate is taken, as in the gateway. */
const RATE_SECONDS = 10

/** The share of a limit that is left, 0 to 1. It's 0 if the limit is 0 or below its usage. */
export function headroomOf({ used, limit }: Pick<SharedLimit, 'used' | 'limit'>): number {
  const most = Number(limit)
  return most === 0 ? 0 : Math.max(0, 1 - used / most)
}

/** The site-wide limit with the smallest share left. */
export function tightestOf(shared: Overview['shared']): SharedLimit | undefined {
  return (shared ?? []).toSorted((a, b) => headroomOf(a) - headroomOf(b))[0]
}

/** The relative change of the request rate within the last minute; `undefined` if there were no requests before. */
export function rateChange({ seconds }: Overview['requests']): number | undefined {
  const before = seconds.slice(0, -RATE_SECONDS)
  const rateBefore = totalOf(before) / before.length
  return rateBefore === 0 ? undefined : totalOf(seconds.slice(-RATE_SECONDS)) / RATE_SECONDS / rateBefore - 1
}

/**
 * The share of refused requests: now, and in the hour before. If the counts of other processes are unknown, it covers
 * this process.
 */
export function refusedShares({ minutes, seconds }: Overview['requests']): readonly [now: number, before: number] {
  if (minutes === null) return [shareOf(seconds, 'refused'), shareOf(seconds, 'refused')]
  return [shareOf(minutes.slice(-LAST_MINUTES), 'refused'), shareOf(minutes.slice(0, -LAST_MINUTES), 'refused')]
}
