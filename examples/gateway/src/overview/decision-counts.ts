import type { Clock } from '@scoregw/quota'
import { type TopSubject, type TopSubjects, topSubjects } from '@scoregw/quota/top'
import type { CATEGORIES } from '../quota/names.ts'
import type { GatewayQuota } from '../quota/policy.ts'

/** The number of refusals by a limit. */
export interface LimitRefusals {
  /** The limit's name. */
  readonly name: string
  readonly count: number
}

/** The decisions of this process in the last ten minutes. */
export class DecisionCounts {
  readonly #top: TopSubjects
  readonly #clock: Clock
  readonly #refusals: SlidingCounts
  readonly #degraded: SlidingCounts
  readonly #stops: readonly (() => void)[]

  constructor(quota: GatewayQuota, clock: Clock) {
    this.#clock = clock
    this.#refusals = new SlidingCounts(clock.now())
    this.#degraded = new SlidingCounts(clock.now())
    this.#top = topSubjects({ quota, clock, periodMs: MINUTES * 60_000 })
    this.#stops = [
      quota.on('refused', ({ refusedBy }) => this.#refusals.add(refusedBy.name, clock.now())),
      quota.on('degraded', ({ operation }) => this.#degraded.add(operation, clock.now())),
    ]
  }

  /** Returns refusals by the reported limit, the most frequent first. */
  refusals(): LimitRefusals[] {
    const all = this.#refusals.all(this.#clock.now()).map(([name, count]) => ({ name, count }))
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

  /** Returns the users who spent the most tokens, or were refused most often, by all operations of a category. */
  top(of: 'spent' | 'refused', category: (typeof CATEGORIES)[number], count: number): TopSubject[] {
    return this.#top[of](category, count)
  }

  /** Returns when {@link top} starts, in epoch milliseconds. */
  topSinceAt(): number {
    return this.#top.sinceAt()
  }

  close(): void {
    this.#top.stop()
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
