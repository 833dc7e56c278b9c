import type { Clock } from '@scoregw/quota'

/** Further than this in the future, a window was opened by a clock that ran ahead. In milliseconds. */
const TOO_FAR_AHEAD_MS = 5_000

/** One window of one counter, as it was last left. */
interface ModelWindow {
  startedAt: number
  used: number
  /** An administrator's reset ended it early. */
  closed: boolean
}

/** What can be seen of a window. */
export interface OpenWindow {
  readonly startedAt: number
  readonly used: number
}

/** Every window that ever opened, one object each; nothing is forgotten, nothing is packed. */
export class ModelWindows {
  readonly #clock: Clock
  readonly #windows = new Map<string, ModelWindow>()
  readonly #lengthsMs = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The window if it is open now. */
  look(name: string): OpenWindow | undefined {
    const window = this.#windows.get(name)
    if (window === undefined || window.closed) return undefined
    const startedAt = this.#notTooFarAhead(window.startedAt)
    const lengthMs = this.#lengthsMs.get(name) ?? 0
    return this.#clock.now() < startedAt + lengthMs ? { startedAt, used: window.used } : undefined
  }

  /** Puts tokens into the window, opening it if it is not open; the start of the window they are in. */
  charge(name: string, lengthMs: number, tokens: number): number {
    this.#lengthsMs.set(name, lengthMs)
    this.moveToThePresent(name)
    const open = this.look(name)
    if (open !== undefined) {
      this.#windows.set(name, { startedAt: open.startedAt, used: open.used + tokens, closed: false })
      return open.startedAt
    }
    const before = this.#windows.get(name)
    const now = this.#clock.now()
    const startedAt = before === undefined ? now : Math.max(now, this.#notTooFarAhead(before.startedAt) + 1)
    this.#windows.set(name, { startedAt, used: tokens, closed: false })
    return startedAt
  }

  /** Gives tokens back, if the window is still the one that began then. */
  refund(name: string, startedAt: number, tokens: number): void {
    const window = this.#windows.get(name)
    if (window === undefined || window.closed || window.startedAt !== startedAt) return
    window.used = Math.max(0, window.used - tokens)
  }

  close(name: string): void {
    const window = this.#windows.get(name)
    if (window !== undefined) window.closed = true
  }

  moveToThePresent(name: string): void {
    const window = this.#windows.get(name)
    if (window?.closed === false) window.startedAt = this.#notTooFarAhead(window.startedAt)
  }

  /** The ends of all windows that are open now. */
  ends(): number[] {
    return [...this.#windows.keys()].flatMap((name) => {
      const open = this.look(name)
      return open === undefined ? [] : [open.startedAt + (this.#lengthsMs.get(name) ?? 0)]
    })
  }

  /** Later than whatever began when the clock last stood where it stands now. */
  #notTooFarAhead(startedAt: number): number {
    return startedAt - this.#clock.now() > TOO_FAR_AHEAD_MS ? this.#clock.now() + 1 : startedAt
  }
}
