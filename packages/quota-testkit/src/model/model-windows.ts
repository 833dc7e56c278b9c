import type { Clock } from '@scoregw/quota'

/** A window that starts further in the future was opened by a fast clock. In milliseconds. */
const TOO_FAR_AHEAD_MS = 5_000

/**
 * How long a window counts: milliseconds from its start, or a calendar period `[start, end)`. For a bucket, how many
 * tokens return per `perMs`; 0: none.
 */
export type ModelSpan =
  | { readonly lengthMs: number }
  | { readonly periodStart: number; readonly periodEnd: number }
  | { readonly perMs: number; readonly rate: number }

/** One window of one counter, in its last state. */
export interface ModelWindow {
  startedAt: number
  used: number
  /** Ended early by a reset. */
  closed: boolean
  /** The span at the last charge. */
  span: ModelSpan
}

/** An open window, as callers see it. */
export interface OpenWindow {
  readonly startedAt: number
  /** Without the tokens that returned to a bucket. */
  readonly used: number
  /** Everything charged since `startedAt`. */
  readonly charged: number
}

/** All windows that ever opened, one object each. Nothing is forgotten or packed. */
export class ModelWindows {
  readonly clock: Clock
  readonly windows: Record<string, ModelWindow>

  /** @param windows the initial windows as plain data; they are modified */
  constructor(clock: Clock, windows: Record<string, ModelWindow> = {}) {
    this.clock = clock
    this.windows = windows
  }

  /** Returns the window if it is open. */
  open(name: string, span: ModelSpan): OpenWindow | undefined {
    const window = this.windows[name]
    if (window === undefined || window.closed) return undefined
    const startedAt = this.#notTooFarAhead(window.startedAt)
    const isOpen =
      'periodStart' in span ? startedAt >= span.periodStart : this.clock.now() < startedAt + this.lasts(span)
    if (!isOpen) return undefined
    const back = 'perMs' in span ? this.back(this.clock.now() - startedAt, span) : 0
    return { startedAt, used: Math.max(0, window.used - back), charged: window.used }
  }

  /** Charges tokens, and opens the window if necessary. Returns the start of the window. */
  charge(name: string, span: ModelSpan, tokens: number): number {
    this.moveToThePresent(name)
    const open = this.open(name, span)
    if (open !== undefined && !this.isFull(open, span)) {
      const passed = this.passed(open, span)
      const startedAt = open.startedAt + passed.ms
      const used = Math.min(open.charged - passed.tokens + tokens, Number.MAX_SAFE_INTEGER)
      this.windows[name] = { startedAt, used, closed: false, span }
      return startedAt
    }
    const before = this.windows[name]
    const first = 'periodStart' in span ? span.periodStart : this.clock.now()
    const startedAt = before === undefined ? first : Math.max(first, this.#notTooFarAhead(before.startedAt) + 1)
    this.windows[name] = { startedAt, used: tokens, closed: false, span }
    return startedAt
  }

  /** Refunds tokens, if the window is still the one that started then. */
  refund(name: string, startedAt: number, tokens: number): void {
    const window = this.windows[name]
    if (window === undefined || window.closed || window.startedAt !== startedAt) return
    // More may have been charged than can be counted.
    if (window.used < Number.MAX_SAFE_INTEGER) window.used = Math.max(0, window.used - tokens)
  }

  close(name: string): void {
    const window = this.windows[name]
    if (window !== undefined) window.closed = true
  }

  moveToThePresent(name: string): void {
    const window = this.windows[name]
    if (window?.closed === false) window.startedAt = this.#notTooFarAhead(window.startedAt)
  }

  /** When the open windows end. */
  ends(): number[] {
    return Object.entries(this.windows).flatMap(([name, { span }]) => {
      if ('periodEnd' in span) return span.periodEnd > this.clock.now() ? [span.periodEnd] : []
      const open = this.open(name, span)
      if (open === undefined) return []
      const end = open.startedAt + this.lasts(span)
      return 'perMs' in span ? [end, this.enoughAt(open, span, 0)] : [end]
    })
  }

  /** When at most `most` of a bucket is in use, if nothing else is charged. */
  enoughAt({ startedAt, charged }: OpenWindow, span: { perMs: number; rate: number }, most: number): number {
    const end = startedAt + this.lasts(span)
    if (span.rate === 0) return end
    const missing = BigInt(charged - most) * BigInt(span.perMs)
    const whole = missing / BigInt(span.rate) + (missing % BigInt(span.rate) > 0n ? 1n : 0n)
    return Math.min(end, startedAt + Number(whole))
  }

  /**
   * Whether a bucket is full again. Such a bucket counts as never opened, except in the millisecond in which it opened.
   */
  isFull({ startedAt, used }: OpenWindow, span: ModelSpan): boolean {
    return 'perMs' in span && span.rate > 0 && used === 0 && this.clock.now() > startedAt
  }

  /** The time since a bucket opened, and the tokens that returned in it. */
  passed({ startedAt }: OpenWindow, span: ModelSpan): { ms: number; tokens: number } {
    const isOver = 'perMs' in span && span.rate > 0 && this.clock.now() >= startedAt + span.perMs
    return isOver ? { ms: span.perMs, tokens: span.rate } : { ms: 0, tokens: 0 }
  }

  /** The longest time that a window lasts. */
  lasts(span: { readonly lengthMs: number } | { readonly perMs: number }): number {
    return 'perMs' in span ? 2 * span.perMs : span.lengthMs
  }

  /** The whole tokens that return in a time, computed with exact fractions. */
  back(ageMs: number, { perMs, rate }: { readonly perMs: number; readonly rate: number }): number {
    return ageMs <= 0 ? 0 : Number((BigInt(ageMs) * BigInt(rate)) / BigInt(perMs))
  }

  /** Moves a start that is too far ahead to `now + 1`, so that it is later than windows opened now. */
  #notTooFarAhead(startedAt: number): number {
    return startedAt - this.clock.now() > TOO_FAR_AHEAD_MS ? this.clock.now() + 1 : startedAt
  }
}
