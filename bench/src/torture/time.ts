import { NotOffered } from '@scoregw/quota-testkit/torture'
import FakeTimers from '@sinonjs/fake-timers'

/** How time passes for the limiters of a process. */
export interface Time {
  advance(ms: number): Promise<void>
}

/** Time in the hand of the suite, for limiters in memory: `Date`, timers, and the clock that no step moves. */
export function virtualTime(): Time {
  const clock = FakeTimers.install({
    now: Date.UTC(2026, 7, 6, 15, 6, 26),
    toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'hrtime', 'performance'],
  })
  return {
    async advance(ms) {
      if (ms >= 0) await clock.tickAsync(ms)
      // As when the system's clock is set: timers run on.
      else clock.setSystemTime(clock.now + ms)
    },
  }
}

/** Longer than any case waits, other than for a clock that is set forward. */
const LONGEST_MS = 120_000

/** Time as it passes, where a server has a clock of its own. */
export const realTime: Time = {
  async advance(ms) {
    if (ms < 0 || ms > LONGEST_MS) throw new NotOffered("not tried: the server's clock is not the suite's to set")
    // A server's clock and this one count milliseconds from different instants.
    await new Promise((resolve) => setTimeout(resolve, ms + 2))
  },
}
