import type { Clock } from '@scoregw/quota'

/** Further than this in the future, a window was opened by a clock that ran ahead. In milliseconds. */
const TOO_FAR_AHEAD_MS = 5_000

/**
 * How long a window counts: so many milliseconds from its start, or as long as a period of the calendar, `[start, end)`. Of a
 * bucket, how many tokens come back each `perMs`; 0: none do.
 */
export type ModelSpan =
  | { readonly lengthMs: number }
  | { readonly periodStart: number; readonly periodEnd: number }
  | { readonly perMs: number; readonly rate: number }

/** One window of one counter, as it was last left. */
export interface ModelWindow {
  startedAt: number
  used: number
  /** An administrator's reset ended it early. */
  closed: boolean
  /** As it was when tokens were last put in. */
  span: ModelSpan
}

/** What can be seen of a window. */
export interface OpenWindow {
  readonly startedAt: number
  /** Without the tokens that came back to a bucket. */
  readonly used: number
  /** All that was charged since `startedAt`. */
  readonly charged: number
}

/** Every window that ever opened, one object each; nothing is forgotten, nothing is packed. */
export class ModelWindows {
  readonly clock: Clock
  readonly windows: Record<string, ModelWindow>

  /** @param windows the windows known already, as plain data that is written to */
  constructor(clock: Clock, windows: Record<string, ModelWindow> = {}) {
    this.clock = clock
    this.windows = windows
  }

  /** The window if it is open now. */
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

  /** Puts tokens into the window, opening it if it is not open; the start of the window they are in. */
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

  /** Gives tokens back, if the window is still the one that began then. */
  refund(name: string, startedAt: number, tokens: number): void {
    const window = this.windows[name]
    if (window === undefined || window.closed || window.startedAt !== startedAt) return
    // More may have been charged than could be counted.
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

  /** The instants at which windows that are open now end. */
  ends(): number[] {
    return Object.entries(this.windows).flatMap(([name, { span }]) => {
      if ('periodEnd' in span) return span.periodEnd > this.clock.now() ? [span.periodEnd] : []
      const open = this.open(name, span)
      if (open === undefined) return []
      const end = open.startedAt + this.lasts(span)
      return 'perMs' in span ? [end, this.enoughAt(open, span, 0)] : [end]
    })
  }

  /** When no more than `most` of a bucket is used that has not come back, if nothing else is charged. */
  enoughAt({ startedAt, charged }: OpenWindow, span: { perMs: number; rate: number }, most: number): number {
    const end = startedAt + this.lasts(span)
    if (span.rate === 0) return end
    const missing = BigInt(charged - most) * BigInt(span.perMs)
    const whole = missing / BigInt(span.rate) + (missing % BigInt(span.rate) > 0n ? 1n : 0n)
    return Math.min(end, startedAt + Number(whole))
  }

  /** A bucket to which all came back is one that never opened, but for the millisecond in which it opened. */
  isFull({ startedAt, used }: OpenWindow, span: ModelSpan): boolean {
    return 'perMs' in span && span.rate > 0 && used === 0 && this.clock.now() > startedAt
  }

  /** The part of a bucket's time that is over, and what came back in it. */
  passed({ startedAt }: OpenWindow, span: ModelSpan): { ms: number; tokens: number } {
    const isOver = 'perMs' in span && span.rate > 0 && this.clock.now() >= startedAt + span.perMs
    return isOver ? { ms: span.perMs, tokens: span.rate } : { ms: 0, tokens: 0 }
  }

  /** How long a window lasts at the most. */
  lasts(span: { readonly lengthMs: number } | { readonly perMs: number }): number {
    return 'perMs' in span ? 2 * span.perMs : span.lengthMs
  }

  /** Whole tokens that came back in a time, as exact fractions. */
  back(ageMs: number, { perMs, rate }: { readonly perMs: number; readonly rate: number }): number {
    return ageMs <= 0 ? 0 : Number((BigInt(ageMs) * BigInt(rate)) / BigInt(perMs))
  }

  /** Later than whatever began when the clock last stood where it stands now. */
  #notTooFarAhead(startedAt: number): number {
    return startedAt - this.clock.now() > TOO_FAR_AHEAD_MS ? this.clock.now() + 1 : startedAt
  }
}
