import type { Quotas } from '../../policy/limits.ts'
import type { Policy } from '../../policy/policy.ts'
import { inRowOrder, windowCell } from '../../windows/identity.ts'
import type { Calendar, CalendarWindow, OwnAnchor, TwoPeriods } from '../../windows/kinds/calendar.ts'

/** Periods as they go with a request, and until when they are the first two. */
interface CachedPeriods {
  readonly periods: readonly number[]
  /** When the first of the first periods ends, epoch milliseconds. */
  readonly until: number
}

/**
 * The periods of a policy's calendar windows, computed in the process for an instant by the store's clock: the store
 * picks, and where its time is outside of the periods it received, its time counts from then on.
 */
export class LivePeriods {
  /** In the order of a row. */
  readonly #windows: readonly CalendarWindow[]
  readonly #calendar: Calendar | undefined
  /** The store's time in its last reply, epoch milliseconds; before that the process's. */
  #storeTime: number
  /** Of subjects without anchors of their own, by how many layers apply. */
  #shared: (CachedPeriods | undefined)[] = []
  /** By a subject's quotas. */
  #own = new WeakMap<Quotas, CachedPeriods>()
  /** When the first period of any that is known ends. */
  #until = Number.POSITIVE_INFINITY

  constructor({ windows }: Policy, calendar: Calendar | undefined, now: number) {
    const inRow = inRowOrder(windows.map((window) => ({ ...windowCell(window), window })))
    this.#windows = inRow.flatMap(({ window }) => (window.every === undefined ? [] : [window]))
    this.#calendar = calendar
    this.#storeTime = now
  }

  /** What goes with a request, see `TakeRequest.periods`; `undefined` where no window is of the calendar. */
  of(quotas: Quotas): readonly number[] | undefined {
    if (this.#windows.length === 0) return undefined
    const { layers, anchors } = quotas
    if (anchors !== undefined) {
      const own = this.#own.get(quotas) ?? this.#compute(anchors)
      this.#own.set(quotas, own)
      return own.periods
    }
    const shared = this.#shared[layers.length] ?? this.#compute(layers.map(() => null))
    this.#shared[layers.length] = shared
    return shared.periods
  }

  /** The same for another instant, epoch milliseconds: where a clock was turned, a window may be in neither of the two. */
  at({ layers, anchors }: Quotas, instant: number): readonly number[] {
    return this.#around(anchors ?? layers.map(() => null), instant).flat()
  }

  /** The store's time was `now`: from the second period on the next two are computed, before they are needed. */
  advanceTo(now: number): void {
    if (now >= this.#until) this.resetTo(now)
  }

  /** The store's time was outside of the periods that it received. */
  resetTo(now: number): void {
    this.#storeTime = now
    this.#shared = []
    this.#own = new WeakMap()
    this.#until = Number.POSITIVE_INFINITY
  }

  #compute(anchors: readonly (OwnAnchor | null)[]): CachedPeriods {
    const each = this.#around(anchors, this.#storeTime)
    const until = Math.min(...each.map(([, end]) => end))
    this.#until = Math.min(this.#until, until)
    return { periods: each.flat(), until }
  }

  #around(anchors: readonly (OwnAnchor | null)[], instant: number): readonly TwoPeriods[] {
    const periodsOf = (window: CalendarWindow, anchor: OwnAnchor | null): TwoPeriods =>
      this.#calendar!.periods(window, instant, window.anchor === 'subject' ? anchor : null)
    return anchors.flatMap((anchor) => this.#windows.map((window) => periodsOf(window, anchor)))
  }
}
