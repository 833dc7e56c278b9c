import { type CellSchema, hash32 } from './identity.ts'
import { PERIOD_NUMBERS, periodAt } from './kinds/kind.ts'
import { KINDS } from './kinds.ts'
import { cameBack } from './refill.ts'
import { type Cells, roll, rollBucket } from './row.ts'

/**
 * Where the numbers of a cell stand. A row is the cells of one (layer, subject, category), and a state is the rows of
 * the layers that apply, one behind the other; both hold a pair `[startedAt, used]` for each cell: those of the windows,
 * and behind them that of slots, where a policy limits concurrency. Nothing else computes these places.
 */
export class Layout {
  /** In the order of a row: see {@link inRowOrder}. */
  readonly cells: readonly CellSchema[]
  /** The cells' identities, in the order of a row. */
  readonly identities: readonly string[]
  /** The list of identities as one text. Rows that outlive a policy name it by its {@link hash}. */
  readonly list: string
  /** {@link hash32} of {@link list}. */
  readonly hash: number
  /**
   * How long after its start each window has certainly ended, in the order of a row; see {@link CellSchema.lengthMs}.
   */
  readonly lengthsMs: readonly number[]
  /** Cells per row. */
  readonly size: number
  /** Windows per row, rolling and calendar. */
  readonly width: number
  /** Whether a row's last cell counts slots. */
  readonly hasSlots: boolean
  /** Numbers per row. */
  readonly rowCells: number
  /** The time in which a bucket refills by its limit, in milliseconds; 0 for all other cells. */
  readonly persMs: readonly number[]
  /** The calendar windows by their places in a row. A request has their periods in this order. */
  readonly calendars: readonly number[]
  /** Which of a request's costs each cell counts, in the order of a row: see {@link CellSchema.unit}. */
  readonly units: readonly number[]
  /** @param cells in the order of a row */
  constructor(cells: readonly CellSchema[]) {
    this.cells = cells
    this.identities = cells.map(({ identity }) => identity)
    this.list = this.identities.join('\n')
    this.hash = hash32(this.list)
    this.size = cells.length
    this.hasSlots = cells.at(-1)?.kind === 'concurrency'
    this.width = this.hasSlots ? cells.length - 1 : cells.length
    this.lengthsMs = cells.slice(0, this.width).map(({ lengthMs }) => lengthMs)
    this.rowCells = 2 * cells.length
    this.calendars = this.lengthsMs.flatMap((_, window) => (cells[window]!.kind === 'calendar' ? [window] : []))
    this.units = cells.map(({ unit }) => unit)
    this.persMs = cells.map(({ kind, lengthMs }) => (kind === 'bucket' ? lengthMs / 2 : 0))
  }

  /** Where the row of the `slot`th layer that applies begins in a state. */
  rowAt(slot: number): number {
    return slot * this.rowCells
  }

  /** Where a cell's start is in a state; the next number is its use. */
  cellAt(slot: number, cell: number): number {
    return 2 * (slot * this.size + cell)
  }

  /** Where a cell's limit is among those of the layers that apply. */
  limitAt(slot: number, cell: number): number {
    return slot * this.size + cell
  }

  /** Where the periods of the `slot`th layer that applies begin among those of a request. */
  periodsAt(slot: number): number {
    return PERIOD_NUMBERS * slot * this.calendars.length
  }

  /** The `slot`th row of a state. */
  rowOf(state: readonly number[], slot: number): number[] {
    return state.slice(this.rowAt(slot), this.rowAt(slot + 1))
  }

  /** The limits of the `slot`th layer that applies. */
  limitsOf(limits: readonly number[], slot: number): number[] {
    return limits.slice(this.limitAt(slot, 0), this.limitAt(slot + 1, 0))
  }

  /**
   * How much of a limit is used at an instant: its cell, less what a bucket refilled.
   *
   * @param at the limit's place among those of the layers that apply
   * @param rates see the request's quotas
   */
  usedAt(state: readonly number[], at: number, rates: readonly number[] | undefined, now: number): number {
    const used = state[2 * at + 1] ?? 0
    const rate = rates === undefined ? 0 : rates[at]!
    return rate === 0 || used === 0
      ? used
      : Math.max(0, used - cameBack(now - state[2 * at]!, rate, this.persMs[at % this.size]!))
  }

  /** The starts of a state's cells. */
  startsOf(state: readonly number[]): number[] {
    return state.filter((_, index) => index % 2 === 0)
  }
}

/** The windows open at one instant under one request's periods. Computed once, for all rows that are read then. */
export class Instant {
  /** By layer that applies and cell, like {@link Layout.limitAt}: a cell is open while its start is later than this. */
  readonly after: number[] = []
  /** The same, without buckets: their cells don't directly show what is used. */
  readonly usual: number[]
  /** In the same places: the start of a cell that opens now, unless an earlier opening was later. */
  readonly opensAt: number[] = []
  readonly #layout: Layout
  #now = Number.NaN
  #periods: readonly number[] | undefined
  #layers = 0

  constructor(layout: Layout) {
    this.#layout = layout
    this.usual = layout.persMs.some((perMs) => perMs > 0) ? [] : this.after
  }

  /**
   * Moves to an instant.
   *
   * @param now epoch milliseconds
   * @param periods as in a take
   * @param layers how many apply
   * @returns `false`: the instant is in neither of the periods of some calendar window, so nothing here is valid
   */
  moveTo(now: number, periods: readonly number[] | undefined, layers: number): boolean {
    if (now === this.#now && periods === this.#periods && layers === this.#layers) return true
    const { cells, size } = this.#layout
    this.#now = Number.NaN
    for (let l = 0; l < layers; l++) {
      let periodsAt = this.#layout.periodsAt(l)
      for (let c = 0; c < size; c++) {
        const { kind, lengthMs } = cells[c]!
        const isCalendar = kind === 'calendar'
        const period = isCalendar ? periodAt(now, periods, periodsAt) : undefined
        if (isCalendar && period === undefined) return false
        if (isCalendar) periodsAt += PERIOD_NUMBERS
        this.after[l * size + c] = KINDS[kind].after(lengthMs, now, period)
        this.opensAt[l * size + c] = KINDS[kind].opensAt(now, period)
      }
    }
    this.#leaveOutBuckets()
    this.#now = now
    this.#periods = periods
    this.#layers = layers
    return true
  }

  /**
   * Opens a cell at this instant if necessary, so that it can be charged: `roll`, and what a bucket needs.
   *
   * @param i where the cell's pair is
   * @param at its place, as in {@link after}
   * @param rates see the request's quotas
   */
  roll(cells: Cells, i: number, at: number, rates: readonly number[] | undefined): void {
    const { persMs, size } = this.#layout
    const rate = rates?.[at] ?? 0
    if (rate > 0) rollBucket(cells, i, this.after[at]!, this.#now, rate, persMs[at % size]!)
    else roll(cells, i, this.after[at]!, this.opensAt[at]!, this.#now)
  }

  #leaveOutBuckets(): void {
    const { persMs, size } = this.#layout
    if (this.usual === this.after) return
    for (const [at, after] of this.after.entries()) {
      this.usual[at] = persMs[at % size] === 0 ? after : Number.POSITIVE_INFINITY
    }
  }
}
