import { type Layout, PERIOD_NUMBERS, periodAt } from '@scoregw/quota/store'
import { charge, reanchor, type Spans, spansAt, viewRow, viewSlots } from '../one-unit.ts'

/** The rows that everybody shares as a grant found them, to replay on them what it did. */
export class SiteRows {
  readonly #cells: Float64Array
  readonly #layout: Layout
  readonly #now: number
  readonly #periods: readonly number[] | undefined
  /** One a row. */
  readonly #spans: readonly Spans[]

  /**
   * Rows as they are at an instant; `undefined` where it is outside of the periods.
   *
   * @param periods of the calendar windows of each row in turn
   */
  static at(
    cells: Float64Array,
    layout: Layout,
    now: number,
    periods: readonly number[] | undefined,
  ): SiteRows | undefined {
    const rows = [...Array(cells.length / layout.rowCells).keys()]
    const spans = rows.flatMap((row) => spansAt(layout, now, periods, row) ?? [])
    return spans.length < rows.length ? undefined : new SiteRows(cells, layout, now, periods, spans)
  }

  private constructor(
    cells: Float64Array,
    layout: Layout,
    now: number,
    periods: readonly number[] | undefined,
    spans: readonly Spans[],
  ) {
    this.#cells = cells
    this.#layout = layout
    this.#now = now
    this.#periods = periods
    this.#spans = spans
    for (const row of spans.keys()) reanchor(cells, layout.rowAt(row), layout.width, now)
  }

  /** `[startedAt, used]` of every window, `idle` tokens of each left out. */
  states(idle = 0): number[] {
    const layout = this.#layout
    const states = new Array<number>(this.#cells.length).fill(0.5)
    for (const [row, spans] of this.#spans.entries()) {
      const at = layout.rowAt(row)
      viewRow(this.#cells, at, spans, states, at)
      if (layout.hasSlots) viewSlots(this.#cells, at + 2 * layout.width, states, layout.cellAt(row, layout.width))
    }
    return idle > 0 ? without(states, idle) : states
  }

  charge(tokens: number): void {
    if (tokens === 0) return
    for (const [row, spans] of this.#spans.entries()) {
      charge(this.#cells, this.#layout.rowAt(row), spans, tokens)
    }
  }

  /** When each cell ends, epoch milliseconds; `Infinity` of windows that are not open, and of slots. */
  ends(): number[] {
    const { lengthsMs, calendars, size, width } = this.#layout
    const ends = startsOf(this.states()).map((start, index) => {
      const isOpen = index % size < width && start >= 0
      return isOpen ? start + lengthsMs[index % size]! : Number.POSITIVE_INFINITY
    })
    for (const row of this.#spans.keys()) {
      for (const [index, window] of calendars.entries()) {
        const at = this.#layout.limitAt(row, window)
        const period = periodAt(this.#now, this.#periods, this.#layout.periodsAt(row) + PERIOD_NUMBERS * index)
        if (ends[at]! < Number.POSITIVE_INFINITY) ends[at] = period!.end
      }
    }
    return ends
  }

  /** When the first window that is open ends, epoch milliseconds; `Infinity` where none is. */
  endsAt(): number {
    return Math.min(...this.ends())
  }
}

/** States with so many tokens less in each window. */
export function without(states: readonly number[], tokens: number): number[] {
  return states.map((value, index) => (index % 2 === 1 ? Math.max(0, value - tokens) : value))
}

/** The starts of states. */
export function startsOf(states: readonly number[]): number[] {
  return states.filter((_, index) => index % 2 === 0)
}
