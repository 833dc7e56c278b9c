import type { Clock } from '@scoregw/quota'

/** Further than this in the future, a window was opened by a clock that ran ahead. In milliseconds. */
const TOO_FAR_AHEAD_MS = 5_000

/** How long a window counts: so many milliseconds from its start, or as long as a period of the calendar, `[start, end)`. */
export type ModelSpan = { readonly lengthMs: number } | { readonly periodStart: number; readonly periodEnd: number }

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
  readonly used: number
}

/** Every window that ever opened, one object each; nothing is forgotten, nothing is packed. */
export class ModelWindows {
  readonly #clock: Clock
  readonly #windows: Record<string, ModelWindow>

  /** @param windows the windows known already, as plain data that is written to */
  constructor(clock: Clock, windows: Record<string, ModelWindow> = {}) {
    this.#clock = clock
    this.#windows = windows
  }

  /** The window if it is open now. */
  look(name: string, span: ModelSpan): OpenWindow | undefined {
    const window = this.#windows[name]
    if (window === undefined || window.closed) return undefined
    const startedAt = this.#notTooFarAhead(window.startedAt)
    const isOpen = 'lengthMs' in span ? this.#clock.now() < startedAt + span.lengthMs : startedAt >= span.periodStart
    return isOpen ? { startedAt, used: window.used } : undefined
  }

  /** Puts tokens into the window, opening it if it is not open; the start of the window they are in. */
  charge(name: string, span: ModelSpan, tokens: number): number {
    this.moveToThePresent(name)
    const open = this.look(name, span)
    if (open !== undefined) {
      this.#windows[name] = {
        startedAt: open.startedAt,
        used: Math.min(open.used + tokens, Number.MAX_SAFE_INTEGER),
        closed: false,
        span,
      }
      return open.startedAt
    }
    const before = this.#windows[name]
    const first = 'lengthMs' in span ? this.#clock.now() : span.periodStart
    const startedAt = before === undefined ? first : Math.max(first, this.#notTooFarAhead(before.startedAt) + 1)
    this.#windows[name] = { startedAt, used: tokens, closed: false, span }
    return startedAt
  }

  /** Gives tokens back, if the window is still the one that began then. */
  refund(name: string, startedAt: number, tokens: number): void {
    const window = this.#windows[name]
    if (window === undefined || window.closed || window.startedAt !== startedAt) return
    // More may have been charged than could be counted.
    if (window.used < Number.MAX_SAFE_INTEGER) window.used = Math.max(0, window.used - tokens)
  }

  close(name: string): void {
    const window = this.#windows[name]
    if (window !== undefined) window.closed = true
  }

  moveToThePresent(name: string): void {
    const window = this.#windows[name]
    if (window?.closed === false) window.startedAt = this.#notTooFarAhead(window.startedAt)
  }

  /** The instants at which windows that are open now end. */
  ends(): number[] {
    return Object.entries(this.#windows).flatMap(([name, { span }]) => {
      if ('periodEnd' in span) return span.periodEnd > this.#clock.now() ? [span.periodEnd] : []
      const open = this.look(name, span)
      return open === undefined ? [] : [open.startedAt + span.lengthMs]
    })
  }

  /** Later than whatever began when the clock last stood where it stands now. */
  #notTooFarAhead(startedAt: number): number {
    return startedAt - this.#clock.now() > TOO_FAR_AHEAD_MS ? this.#clock.now() + 1 : startedAt
  }
}
