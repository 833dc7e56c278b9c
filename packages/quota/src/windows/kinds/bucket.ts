import * as v from 'valibot'
import { type Check, type Checks, group, isObject, optional, where } from '../../options/checks.ts'
import { cameBack as flooredShare, NOT_OPEN, timeFor } from '../row.ts'
import { type Kind, parsedLength, type WindowRule } from './kind.ts'
import { LENGTH } from './rolling.ts'

/** How many tokens a bucket can hold: a number, or a share of each subject's own limit, 0.01 to 1 in hundredths. */
export type Burst = number | { readonly share: number }

/** A token bucket: a window that refills continuously, by its limit per `lengthMs`. It holds at most `burst`. */
export interface BucketWindow {
  /** The limit's name, which identifies the counter. */
  readonly label: string
  /** The time in which it refills by its limit, in milliseconds: 1 to 366 days. */
  readonly lengthMs: number
  readonly burst: Burst
  readonly every?: undefined
}

/**
 * A cell is `[start, used]`. Tokens return from `start` on, and the cell ends when all have returned. After twice its
 * length it ends anyway, even if it owes tokens. So stores know when a row ends without knowing limits. Its `lengthMs`
 * is that doubled length. An unlimited bucket never refills, and is a rolling window of that length.
 */
export const bucket: Kind = {
  isWindow: true,
  after: (lengthMs, now) => now - lengthMs,
  opensAt: (now) => now,
  lasting: (lengthMs, startedAt, _, tokens, rate) => ({
    lengthMs: lengthMs / 2,
    endsAt: startedAt === NOT_OPEN ? undefined : startedAt + timeFor(tokens, rate, lengthMs / 2),
  }),
  lengthOf(rest) {
    const perMs = parsedLength(rest)
    return perMs === undefined ? undefined : 2 * perMs
  },
}

/**
 * Excludes limit and burst, so that the counter continues when they change. @returns `undefined` for a window of
 * another kind
 */
export function bucketRule({ lengthMs, burst }: Partial<BucketWindow>): WindowRule | undefined {
  return lengthMs === undefined || burst === undefined ? undefined : { lengthMs: 2 * lengthMs, text: String(lengthMs) }
}

/** Checks a limit with a length, maybe with a `burst`. @param others see `group()` */
export function perCheck(common: Checks<object>, others: readonly string[] = []): Check<object> {
  return group<object>({ ...common, ...LENGTH, burst: optional(burstCheck()) } as never, others)
}

/** Checks a burst by itself. Whether it is at most the limit is checked with the limits. */
function burstCheck(): Check<Burst> {
  const tokens = where<Burst>(isTokens, 'a whole number, 1 to the limit, or { share: 0.2 } of the limit')
  const share = group<{ readonly share: number }>({
    share: where(isShare, 'a share of the limit from 0.01 to 1, with at most two decimals'),
  })
  return v.lazy<Check<Burst>>((value) => (isObject(value) ? share : tokens))
}

function isTokens(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0.01 && value <= 1 && Math.round(value * 100) / 100 === value
}

/**
 * Returns how many tokens a bucket can hold under a limit, at most the limit. Unlimited if the limit is.
 *
 * @param limit whole tokens, or `Infinity`
 */
export function burstUnder(limit: number, burst: Burst): number {
  if (limit === Number.POSITIVE_INFINITY || limit === 0) return limit
  if (typeof burst === 'number') return Math.min(burst, limit)
  return Math.max(1, flooredShare(limit, Math.round(burst.share * 100), 100))
}
