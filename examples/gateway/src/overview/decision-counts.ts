import type { Clock, Quota } from '@scoregw/quota'
import { type TopSubjects, topSubjects } from '@scoregw/quota/top'
import type { OperationName } from '../quota/policy.ts'

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
    this.top = topSubjects({ quota, clock, periodMs: MINUTES * 60_000 })
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

/** How many minutes are counted, including the current one. */
const MINUTES = 10

/** Counts of the last ten minutes by name. The policy defines the names, so they are few. */
export class SlidingCounts {
  readonly #counts = new Map<string, Float64Array>()
  #minute: number

  /** @param now epoch milliseconds */
  constructor(now: number) {
    this.#minute = minuteOf(now)
  }

  add(name: string, now: number): void {
    this.#advance(now)
    const counts = this.#counts.get(name) ?? new Float64Array(MINUTES)
    const at = this.#minute % MINUTES
    counts[at] = (counts[at] ?? 0) + 1
    this.#counts.set(name, counts)
  }

  /** Returns the names with a count above 0, and their counts. */
  all(now: number): [name: string, count: number][] {
    this.#advance(now)
    const sums = [...this.#counts].map(([name, counts]): [string, number] => [name, counts.reduce((a, b) => a + b, 0)])
    return sums.filter(([, count]) => count > 0)
  }

  /** Returns when the counts start, in epoch milliseconds. */
  sinceAt(now: number): number {
    this.#advance(now)
    return (this.#minute - MINUTES + 1) * 60_000
  }

  #advance(now: number): void {
    const minute = minuteOf(now)
    if (minute <= this.#minute) return
    const passed = Math.min(MINUTES, minute - this.#minute)
    this.#minute = minute
    for (const counts of this.#counts.values()) {
      for (let each = 0; each < passed; each++) counts[(minute - each) % MINUTES] = 0
    }
  }
}

function minuteOf(now: number): number {
  return Math.floor(now / 60_000)
}
