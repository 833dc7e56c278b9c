import { type CellSchema, hash32 } from './identity.ts'
import { PERIOD_NUMBERS, periodAt } from './kinds/kind.ts'
import { KINDS } from './kinds.ts'
import { cameBack } from './refill.ts'
import { type Cells, roll, rollBucket } from './row.ts'

/**
 * Computes where a cell's numbers are. A row has the cells of one (layer, subject, category). A state has the rows of
 * all applying layers in sequence. Both have a pair `[startedAt, used]` per cell: windows first, then slots if the
 * policy limits concurrency. No other code computes these positions.
 */
export class Layout {
  /** In row order: see {@link inRowOrder}. */
  readonly cells: readonly CellSchema[]
  /** The cells' identities, in row order. */
  readonly identities: readonly string[]
  /** The identities as one text. Stored rows refer to it by its {@link hash}, because they outlive policies. */
  readonly list: string
  /** {@link hash32} of {@link list}. */
  readonly hash: number
  /** How long after its start each window has certainly ended, in row order; see {@link CellSchema.lengthMs}. */
  readonly lengthsMs: readonly number[]
  /** Cells per row. */
  readonly size: number
  /** Windows per row, rolling and calendar. */
  readonly width: number
  /** Whether a row's last cell counts slots. */
  readonly hasSlots: boolean
  /** Numbers per row. */
  readonly rowCells: number
  /** The time in which a bucket refills by its limit, in milliseconds; 0 for other cells. */
  readonly persMs: readonly number[]
  /** The positions of calendar windows in a row. A request has their periods in this order. */
  readonly calendars: readonly number[]
  /** The cost that each cell counts, in row order: see {@link CellSchema.unit}. */
  readonly units: readonly number[]
  /** @param cells in row order */
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

  /** Returns where the row of the `slot`th applying layer starts in a state. */
  rowAt(slot: number): number {
    return slot * this.rowCells
  }

  /** Returns where a cell's start is in a state. The next number is its use. */
  cellAt(slot: number, cell: number): number {
    return 2 * (slot * this.size + cell)
  }

  /** Returns where a cell's limit is among those of the applying layers. */
  limitAt(slot: number, cell: number): number {
    return slot * this.size + cell
  }

  /** Returns where the periods of the `slot`th applying layer start among those of a request. */
  periodsAt(slot: number): number {
    return PERIOD_NUMBERS * slot * this.calendars.length
  }

  /** Returns the `slot`th row of a state. */
  rowOf(state: readonly number[], slot: number): number[] {
    return state.slice(this.rowAt(slot), this.rowAt(slot + 1))
  }

  /** Returns the limits of the `slot`th applying layer. */
  limitsOf(limits: readonly number[], slot: number): number[] {
    return limits.slice(this.limitAt(slot, 0), this.limitAt(slot + 1, 0))
  }

  /**
   * Returns how much of a limit is used at an instant: its cell, minus what a bucket has refilled.
   *
   * @param at the limit's position among those of the applying layers
   * @param rates see the request's quotas
   */
  usedAt(state: readonly number[], at: number, rates: readonly number[] | undefined, now: number): number {
    const used = state[2 * at + 1] ?? 0
    const rate = rates === undefined ? 0 : rates[at]!
    return rate === 0 || used === 0
      ? used
      : Math.max(0, used - cameBack(now - state[2 * at]!, rate, this.persMs[at % this.size]!))
  }

  /** Returns the starts of a state's cells. */
  startsOf(state: readonly number[]): number[] {
    return state.filter((_, index) => index % 2 === 0)
  }
}

/** Which windows are open at an instant, for one request's periods. Computed once for all rows that are then read. */
export class Instant {
  /** By applying layer and cell, like {@link Layout.limitAt}: a cell is open while its start is later than this. */
  readonly after: number[] = []
  /** The same without buckets, whose cells need their refill to show what is used. */
  readonly usual: number[]
  /** At the same positions: the start of a cell that opens now, unless an earlier opening was later. */
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
   * @param layers the number of applying layers
   * @returns `false`: the instant is outside both periods of a calendar window, so nothing here is valid
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
   * Opens a cell now if necessary, so that it can be charged. Buckets are handled too.
   *
   * @param i the position of the cell's pair
   * @param at its position in {@link after}
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
