import { type ModelSpan, type ModelWindow, ModelWindows } from '@scoregw/quota-testkit/model'

/** A rolling window of so many ticks, or periods of so many ticks, one behind the other. */
export interface WindowKind {
  readonly ticks?: number
  readonly period?: number
}

/** When a window that starts so ends. */
export function endOf({ ticks, period }: WindowKind, start: number): number {
  return period === undefined ? start + ticks! : (Math.floor(start / period) + 1) * period
}

/** One window of the testkit's model, whose milliseconds are ticks here. */
export class Window {
  readonly #kind: WindowKind
  readonly #state: { readonly one: ModelWindow }

  constructor(kind: WindowKind, state: ModelWindow = { startedAt: 0, used: 0, closed: true, span: { lengthMs: 0 } }) {
    this.#kind = kind
    this.#state = { one: { ...state } }
  }

  get start(): number {
    return this.#state.one.startedAt
  }

  get used(): number {
    return this.#state.one.used
  }

  /** Whether it never opened, or was closed before its end. */
  get isClosed(): boolean {
    return this.#state.one.closed
  }

  /** @param from where the period at hand begins. Default: the one that `now` is in */
  isOpen(now: number, from?: number): boolean {
    return this.#at(now).open('one', this.#span(now, from)) !== undefined
  }

  charge(now: number, tokens: number, from?: number): void {
    this.#at(now).charge('one', this.#span(now, from), tokens)
  }

  /** To the very window alone. */
  refund(start: number, tokens: number): void {
    this.#at(start).refund('one', start, tokens)
  }

  close(): void {
    this.#at(this.start).close('one')
  }

  copy(): Window {
    return new Window(this.#kind, this.#state.one)
  }

  #at(now: number): ModelWindows {
    return new ModelWindows({ now: () => now }, this.#state)
  }

  #span(now: number, from?: number): ModelSpan {
    const { ticks = 0, period } = this.#kind
    if (period === undefined) return { lengthMs: ticks }
    const periodStart = from ?? Math.floor(now / period) * period
    return { periodStart, periodEnd: periodStart + period }
  }
}
