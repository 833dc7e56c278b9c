import type { Clock, Duration } from '@scoregw/quota'
import { millisecondsOf } from '@scoregw/quota/internal'

/** A {@link Clock} that only moves when you move it. */
export interface ManualClock extends Clock {
  /** Advances the clock by milliseconds, or by a duration such as `'1h'`. A negative number sets it back. */
  advance(by: number | Duration): void
  /** Sets the clock to an instant, in epoch milliseconds. */
  set(instant: number): void
}

/** 6 August 2026, 15:06:26 UTC: an arbitrary instant, the same in every run. */
const SOME_INSTANT = Date.UTC(2026, 7, 6, 15, 6, 26)

/**
 * Makes a clock for tests.
 *
 * @param start the instant it stands at, in epoch milliseconds; by default one in 2026, the same in every run
 * @throws {RangeError} for instants that are not whole milliseconds
 */
export function manualClock(start: number = SOME_INSTANT): ManualClock {
  let instant = whole(start)
  return {
    now: () => instant,
    advance(by) {
      instant = whole(instant + (typeof by === 'number' ? by : millisecondsOf(by)))
    },
    set(next) {
      instant = whole(next)
    },
  }
}

function whole(instant: number): number {
  if (Number.isSafeInteger(instant)) return instant
  throw new RangeError(`expected an instant in whole epoch milliseconds, got ${instant}`)
}
