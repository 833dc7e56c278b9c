import type { Rule } from './model-parts.ts'
import { endOf, Window, type WindowKind } from './model-windows.ts'

/** How long one period of the calendar lasts, in ticks. */
export const PERIOD_TICKS = 8

export const SITE_KINDS: readonly WindowKind[] = [{ ticks: 5 }, { ticks: 9 }, { period: PERIOD_TICKS }]
const EXTRA = 3

interface State {
  readonly windows: Window[]
  /** Most that a return may credit, by lease. */
  readonly leases: Map<number, number>
}

/** What the site says to a request. */
export type SiteReply =
  | { readonly says: 'nothing' | 'would open' | 'refused' }
  | { readonly says: 'stale'; readonly period: number }
  | {
      readonly says: 'granted'
      readonly lease: number
      readonly extra: number
      readonly starts: readonly number[]
      readonly limit: number
    }

/** The rows that all subjects share, on a server with a replica that follows later. */
export class ModelSite {
  readonly #without: Rule | undefined
  #state: State = { windows: SITE_KINDS.map((kind) => new Window(kind)), leases: new Map() }
  #replica: State = copy(this.#state)
  #leases = 0
  limit = 6

  constructor(without: Rule | undefined) {
    this.#without = without
  }

  get windows(): readonly Window[] {
    return this.#state.windows
  }

  limitOf(window: number, limit: number = this.limit): number {
    return limit + 2 * window
  }

  /** @param cost 0: a refresh */
  grant(now: number, cost: number, mayOpen: boolean, period: number): SiteReply {
    const actual = Math.floor(now / PERIOD_TICKS)
    const isStale = actual < period || actual > period + 1
    if (isStale && this.#without !== 'stale outside of the periods') return { says: 'stale', period: actual }
    const from = Math.min(actual, period + 1) * PERIOD_TICKS
    const { windows } = this.#state
    const open = windows.map((window) => window.isOpen(now, from))
    const hasClosed = open.includes(false)
    const isRefresh = cost === 0
    if (hasClosed && isRefresh && this.#without !== 'refresh opens nothing') return { says: 'nothing' }
    if (hasClosed && !isRefresh && !mayOpen && this.#without !== 'personal before opening')
      return { says: 'would open' }
    const room = Math.min(...windows.map(({ used }, w) => this.limitOf(w) - (open[w] ? used : 0)))
    if (cost > room || room <= 0) return { says: isRefresh ? 'nothing' : 'refused' }
    const extra = Math.min(EXTRA, room - cost)
    for (const [w, window] of windows.entries()) {
      const tokens = w === 0 || this.#without !== 'debit every window' ? cost + extra : cost
      window.charge(now, tokens, from)
    }
    this.#leases++
    this.#state.leases.set(this.#leases, cost + extra)
    const starts = windows.map(({ start }) => start)
    return { says: 'granted', lease: this.#leases, extra, starts, limit: this.limit }
  }

  /** How many tokens are credited. */
  return(lease: number, starts: readonly number[], tokens: number): number {
    const most = this.#without === 'return once' ? tokens : (this.#state.leases.get(lease) ?? 0)
    const credited = Math.min(tokens, most)
    this.#state.leases.delete(lease)
    this.credit(starts, credited)
    return credited
  }

  credit(starts: readonly number[], tokens: number): void {
    for (const [w, window] of this.#state.windows.entries()) window.refund(starts[w]!, tokens)
  }

  /** What a silent holder has is not known; here it is taken back all the same. */
  takeBack(): void {
    const starts = this.windows.map(({ start }) => start)
    for (const tokens of this.#state.leases.values()) this.credit(starts, tokens)
    this.#state.leases.clear()
  }

  replicate(): void {
    this.#replica = copy(this.#state)
  }

  failover(): void {
    this.#state = copy(this.#replica)
  }

  /** When the windows end that refuse a cost. */
  refusingEnds(now: number, cost: number): number[] {
    return this.windows.flatMap((window, w) => {
      const isFull = window.isOpen(now) && window.used + cost > this.limitOf(w)
      return isFull ? [endOf(SITE_KINDS[w]!, window.start)] : []
    })
  }
}

function copy({ windows, leases }: State): State {
  return { windows: windows.map((window) => window.copy()), leases: new Map(leases) }
}
