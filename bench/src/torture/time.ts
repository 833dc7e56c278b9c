import { NotOffered } from '@scoregw/quota-testkit/torture'
import FakeTimers from '@sinonjs/fake-timers'

/** How time passes for a process's limiters. */
export interface Time {
  advance(ms: number): Promise<void>
}

/** Time that the suite controls, for limiters in memory: `Date`, timers, and the monotonic clock. */
export function virtualTime(): Time {
  const clock = FakeTimers.install({
    now: Date.UTC(2026, 7, 6, 15, 6, 26),
    toFake: ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'hrtime', 'performance'],
  })
  return {
    async advance(ms) {
      if (ms >= 0) await clock.tickAsync(ms)
      // Like a change of the system's clock: timers continue.
      else clock.setSystemTime(clock.now + ms)
    },
  }
}

/** Longer than any case waits, except for a clock that is set forward. */
const LONGEST_MS = 120_000

/** Real time, for servers with their own clock. */
export const realTime: Time = {
  async advance(ms) {
    if (ms < 0 || ms > LONGEST_MS) throw new NotOffered("not tried: the server's clock is not the suite's to set")
    // The milliseconds of a server's clock and of this one begin at different instants.
    await new Promise((resolve) => setTimeout(resolve, ms + 2))
  },
}
