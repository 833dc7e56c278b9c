import { type CellSchema, hash32, type StoreSchema } from './identity.ts'
import { PERIOD_NUMBERS, periodAt } from './kinds/kind.ts'
import { KINDS } from './kinds.ts'
import { type Cells, cameBack, NOT_OPEN, roll, rollBucket, startIn } from './row.ts'

/** The cells of a layer's rows. A row has a pair `[startedAt, used]` per cell: windows first, then slots. */
export class RowLayout {
  /** In row order: see {@link inRowOrder}. */
  readonly cells: readonly CellSchema[]
  /** The position of its first cell among all limits. The others follow. */
  readonly first: number
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
  /** The positions of calendar windows in a row. */
  readonly calendars: readonly number[]
  /** The amount that each cell counts, in row order: see {@link CellSchema.unit}. */
  readonly units: readonly number[]

  /** @param cells in row order */
  constructor(cells: readonly CellSchema[], first = 0) {
    this.cells = cells
    this.first = first
    this.identities = cells.map(({ identity }) => identity)
    this.list = this.identities.join('\n')
    this.hash = hash32(this.list)
    this.size = cells.length
    this.width = cells.filter(({ kind }) => kind !== 'concurrency').length
    this.lengthsMs = cells.slice(0, this.width).map(({ lengthMs }) => lengthMs)
    this.calendars = cells.flatMap(({ kind }, cell) => (kind === 'calendar' ? [cell] : []))
    this.units = cells.map(({ unit }) => unit)
  }

  /** Whether a row's last cell counts slots. */
  get hasSlots(): boolean {
    return this.width < this.size
  }
}

/** A limit's cell, and where it is. */
interface PlacedCell extends CellSchema {
  /** The index of its layer. */
  readonly layer: number
  /** Its position in its layer's rows. */
  readonly cell: number
  /** The time in which a bucket refills by its limit, in milliseconds; 0 for other kinds. */
  readonly perMs: number
}

/**
 * Computes where a limit's numbers are. All limits of a schema have a position: layer by layer, in row order. A state
 * has a pair `[startedAt, used]` at twice a limit's position, whichever layers apply.
 */
export class Layout {
  /** By layer. */
  readonly rows: readonly RowLayout[]
  /** By position. */
  readonly cells: readonly PlacedCell[]
  /** The index of each limit's layer. */
  readonly layerOf: readonly number[]
  /** The amount that each limit counts: see {@link CellSchema.unit}. */
  readonly units: readonly number[]
  /** The positions of calendar windows. A request has their periods in this order. */
  readonly calendars: readonly number[]
  /** By set, then by layer: the positions of the limits that count. */
  readonly counted: readonly (readonly (readonly number[])[])[]
  /** The states of limits that aren't open. Copied for each reply. */
  readonly blank: readonly number[]

  constructor({ layers, sets }: Pick<StoreSchema, 'layers' | 'sets'>) {
    let first = 0
    this.rows = layers.map(({ cells }) => {
      const row = new RowLayout(cells, first)
      first += cells.length
      return row
    })
    this.cells = layers.flatMap(({ cells }, layer) =>
      cells.map((each, cell) => {
        return { ...each, layer, cell, perMs: each.kind === 'bucket' ? each.lengthMs / 2 : 0 }
      }),
    )
    this.layerOf = this.cells.map(({ layer }) => layer)
    this.units = this.cells.map(({ unit }) => unit)
    this.calendars = this.rows.flatMap((row) => row.calendars.map((cell) => row.first + cell))
    this.counted = sets.map((set) => layers.map((_, layer) => set.filter((at) => this.layerOf[at] === layer)))
    // Doubles from the start, so that a copy can hold epoch milliseconds.
    const blank = Array.from({ length: 2 * this.cells.length }, () => 0.5)
    for (let i = 0; i < blank.length; i++) blank[i] = i % 2 === 0 ? NOT_OPEN : 0
    this.blank = blank
  }

  /** The number of limits. */
  get size(): number {
    return this.cells.length
  }

  /** Returns the rows of a layer. */
  rowAt(layer: number): RowLayout {
    return nth(this.rows, layer)
  }

  /** Returns the cell of a limit by its position. */
  cellAt(at: number): PlacedCell {
    return this.cells[at]!
  }

  /** Returns the positions of the limits that a set counts in a layer. */
  countedIn(set: number, layer: number): readonly number[] {
    return this.counted[set]![layer]!
  }

  /** Returns where the periods of a calendar window are among those of a request. */
  periodsAt(at: number): number {
    return PERIOD_NUMBERS * this.calendars.indexOf(at)
  }

  /**
   * Returns how much of a limit is used at an instant: its cell, minus what a bucket has refilled.
   *
   * @param at the limit's position
   * @param rates see the request's quotas
   */
  usedAt(state: readonly number[], at: number, rates: readonly number[] | undefined, now: number): number {
    const used = state[2 * at + 1] ?? 0
    const rate = rates?.[at] ?? 0
    if (rate === 0 || used === 0) return used
    return Math.max(0, used - cameBack(now - startIn(state, 2 * at), rate, this.cellAt(at).perMs))
  }
}

const LAYOUTS = new WeakMap<StoreSchema, Layout>()

/** Returns the layout of a schema, computed once. */
export function layoutOf(schema: StoreSchema): Layout {
  const layout = LAYOUTS.get(schema) ?? new Layout(schema)
  LAYOUTS.set(schema, layout)
  return layout
}

/** Which windows are open at an instant, for one request's periods. Computed once for all rows that are then read. */
export class Instant {
  /** By position: a cell is open while its start is later than this. */
  readonly after: number[] = []
  /** The same without buckets, whose cells need their refill to show what is used. */
  readonly usual: number[]
  /** By position: the start of a cell that opens now, unless an earlier opening was later. */
  readonly opensAt: number[] = []
  readonly #layout: Layout
  #now = Number.NaN
  #periods: readonly number[] | undefined
  #isInside = false

  constructor(layout: Layout) {
    this.#layout = layout
    this.usual = layout.cells.some(({ kind }) => kind === 'bucket') ? [] : this.after
  }

  /**
   * Moves to an instant.
   *
   * @param now epoch milliseconds
   * @param periods as in a take
   * @returns `false`: the instant is outside both periods of a calendar window, so that one's `after` is `NaN`
   */
  moveTo(now: number, periods: readonly number[] | undefined): boolean {
    if (now === this.#now && periods === this.#periods) return this.#isInside
    this.#now = now
    this.#periods = periods
    this.#isInside = true
    let periodsAt = 0
    for (const [at, { kind, lengthMs }] of this.#layout.cells.entries()) {
      const isCalendar = kind === 'calendar'
      const period = isCalendar ? periodAt(now, periods, periodsAt) : undefined
      if (isCalendar) periodsAt += PERIOD_NUMBERS
      if (isCalendar && period === undefined) {
        this.#isInside = false
        this.after[at] = Number.NaN
        continue
      }
      this.after[at] = KINDS[kind].after(lengthMs, now, period)
      this.opensAt[at] = KINDS[kind].opensAt(now, period)
    }
    this.#leaveOutBuckets()
    return this.#isInside
  }

  /** Returns {@link after} of a limit, by its position. */
  afterAt(at: number): number {
    return this.after[at] ?? Number.NaN
  }

  /**
   * Opens a cell now if necessary, so that it can be charged. Buckets are handled too.
   *
   * @param i the position of the cell's pair
   * @param at its limit's position
   * @param rates see the request's quotas
   */
  roll(cells: Cells, i: number, at: number, rates: readonly number[] | undefined): void {
    const rate = rates?.[at] ?? 0
    const after = this.afterAt(at)
    if (rate > 0) rollBucket(cells, i, after, this.#now, rate, this.#layout.cellAt(at).perMs)
    else roll(cells, i, after, this.opensAt[at]!, this.#now)
  }

  #leaveOutBuckets(): void {
    if (this.usual === this.after) return
    for (const [at, after] of this.after.entries()) {
      this.usual[at] = this.#layout.cellAt(at).kind === 'bucket' ? Number.POSITIVE_INFINITY : after
    }
  }
}

/** Returns the element at an index. @throws {RangeError} without one, since that is a fault of ours */
export function nth<T>(list: ArrayLike<T>, index: number): T {
  const element = list[index]
  if (element === undefined) throw new RangeError(`nothing is at ${index} of ${list.length}`)
  return element
}
