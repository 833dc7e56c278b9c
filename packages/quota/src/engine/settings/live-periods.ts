import { placedLimits } from '../../policy/cells.ts'
import type { Quotas } from '../../policy/limits.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Calendar, CalendarWindow, TwoPeriods } from '../../windows/kinds/calendar.ts'

/** Periods for requests, and how long they are current. */
interface CachedPeriods {
  readonly periods: readonly number[]
  /** When the first of the current periods ends, in epoch milliseconds. */
  readonly until: number
}

/**
 * Computes the current and next periods of a policy's calendar windows, for the store's clock. The store picks one of
 * the two. If its time is outside both, its time is used from then on.
 */
export class LivePeriods {
  /** By position among calendar windows. */
  readonly #windows: readonly { readonly window: CalendarWindow; readonly layer: number }[]
  readonly #calendar: Calendar | undefined
  /** The store's time in its last reply, in epoch milliseconds; before that, the process's time. */
  #storeTime: number
  /** For subjects without anchors. */
  #shared: CachedPeriods | undefined
  /** By a subject's quotas. */
  #own = new WeakMap<Quotas, CachedPeriods>()
  /** When the first of all known periods ends. */
  #until = Number.POSITIVE_INFINITY

  constructor(policy: Policy, calendar: Calendar | undefined, now: number) {
    this.#windows = placedLimits(policy).limits.flatMap(({ rule: { window }, layer }) =>
      window?.every === undefined ? [] : [{ window, layer }],
    )
    this.#calendar = calendar
    this.#storeTime = now
  }

  /** Returns the periods of a request, see `TakeRequest.periods`; `undefined`: no window is a calendar window. */
  of(quotas: Quotas): readonly number[] | undefined {
    if (this.#windows.length === 0) return undefined
    const { anchors } = quotas
    if (anchors !== undefined) {
      const own = this.#own.get(quotas) ?? this.#compute(anchors)
      this.#own.set(quotas, own)
      return own.periods
    }
    this.#shared ??= this.#compute(undefined)
    return this.#shared.periods
  }

  /**
   * Returns the periods at another instant, in epoch milliseconds. After a clock was set, a window may be in neither of
   * the current two.
   */
  at({ anchors }: Quotas, instant: number): readonly number[] {
    return this.#around(anchors, instant).flat()
  }

  /**
   * Call with the store's time. Once the second period starts, the next periods are computed, before they are needed.
   */
  advanceTo(now: number): void {
    if (now >= this.#until) this.resetTo(now)
  }

  /** Call when the store's time was outside the periods. */
  resetTo(now: number): void {
    this.#storeTime = now
    this.#shared = undefined
    this.#own = new WeakMap()
    this.#until = Number.POSITIVE_INFINITY
  }

  #compute(anchors: Quotas['anchors']): CachedPeriods {
    const each = this.#around(anchors, this.#storeTime)
    const until = Math.min(...each.map(([, end]) => end))
    this.#until = Math.min(this.#until, until)
    return { periods: each.flat(), until }
  }

  #around(anchors: Quotas['anchors'], instant: number): readonly TwoPeriods[] {
    return this.#windows.map(({ window, layer }) =>
      this.#calendar!.periods(window, instant, window.anchor === 'subject' ? (anchors?.[layer] ?? null) : null),
    )
  }
}
