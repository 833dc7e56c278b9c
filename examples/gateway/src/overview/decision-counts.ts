import type { Clock, Quota } from '@scoregw/quota'
import { type TopSubjects, topSubjects } from '@scoregw/quota/top'
import type { OperationName } from '../quota/policy.ts'
import { SLIDING_MINUTES, SlidingCounts } from './sliding-counts.ts'

/** The number of refusals by a limit. */
export interface LimitRefusals {
  readonly layer: string
  readonly scope: string
  readonly category: string
  readonly window: string
  readonly count: number
}

/** The decisions of this process in the last ten minutes. */
export class DecisionCounts {
  readonly top: TopSubjects
  readonly #clock: Clock
  readonly #refusals: SlidingCounts
  readonly #degraded: SlidingCounts
  readonly #stops: readonly (() => void)[]

  constructor(quota: Quota<OperationName>, clock: Clock) {
    this.#clock = clock
    this.#refusals = new SlidingCounts(clock.now())
    this.#degraded = new SlidingCounts(clock.now())
    this.top = topSubjects({ quota, clock, periodMs: SLIDING_MINUTES * 60_000 })
    this.#stops = [
      quota.on('refused', ({ binding: { layer, scope, category, window } }) => {
        this.#refusals.add(JSON.stringify([layer, scope, category, window]), clock.now())
      }),
      quota.on('degraded', ({ category }) => this.#degraded.add(category, clock.now())),
    ]
  }

  /** Returns refusals by the reported limit, the most frequent first. */
  refusals(): LimitRefusals[] {
    const all = this.#refusals.all(this.#clock.now()).map(([name, count]) => {
      const [layer, scope, category, window] = JSON.parse(name) as [string, string, string, string]
      return { layer, scope, category, window, count }
    })
    return all.sort((a, b) => b.count - a.count)
  }

  /** Returns how many decisions the failure policy made because the store was unavailable. */
  degraded(): number {
    return this.#degraded.all(this.#clock.now()).reduce((sum, [, count]) => sum + count, 0)
  }

  /** Returns when both counts start, in epoch milliseconds. */
  sinceAt(): number {
    return this.#refusals.sinceAt(this.#clock.now())
  }

  close(): void {
    this.top.stop()
    for (const stop of this.#stops) stop()
  }
}
