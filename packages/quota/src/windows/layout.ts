import { hash32, windowIdentity } from './identity.ts'
import type { WindowDefinition } from './window.ts'

/**
 * Where the numbers of a window stand. A row is the windows of one (layer, subject, category), and a state is the rows of
 * the layers that apply, one behind the other; both hold a pair `[startedAt, used]` for each window. Nothing else
 * computes these places.
 */
export class Layout {
  /** In the order of a row: see {@link inRowOrder}. */
  readonly windows: readonly WindowDefinition[]
  readonly lengthsMs: readonly number[]
  /** What the windows are recognised by, in the order of a row. */
  readonly identities: readonly string[]
  /** The list of identities as one text, which rows that outlive a policy name by its {@link hash}. */
  readonly list: string
  /** {@link hash32} of {@link list}. */
  readonly hash: number
  /** Windows of a row. */
  readonly width: number
  /** Numbers of a row. */
  readonly rowCells: number

  /** @param windows in the order of a row */
  constructor(windows: readonly WindowDefinition[]) {
    this.windows = windows
    this.lengthsMs = windows.map(({ lengthMs }) => lengthMs)
    this.identities = windows.map(windowIdentity)
    this.list = this.identities.join('\n')
    this.hash = hash32(this.list)
    this.width = windows.length
    this.rowCells = 2 * windows.length
  }

  /** Where the row of the `slot`th layer that applies begins in a state. */
  rowAt(slot: number): number {
    return slot * this.rowCells
  }

  /** Where a window's start stands in a state; what it used is the next number. */
  cellAt(slot: number, window: number): number {
    return 2 * (slot * this.width + window)
  }

  /** Where a window's limit stands among those of the layers that apply. */
  limitAt(slot: number, window: number): number {
    return slot * this.width + window
  }

  /** The `slot`th row of a state. */
  rowOf(state: readonly number[], slot: number): number[] {
    return state.slice(this.rowAt(slot), this.rowAt(slot + 1))
  }

  /** The limits of the `slot`th layer that applies. */
  limitsOf(limits: readonly number[], slot: number): number[] {
    return limits.slice(this.limitAt(slot, 0), this.limitAt(slot + 1, 0))
  }

  /** The starts of a state's windows. */
  startsOf(state: readonly number[]): number[] {
    return state.filter((_, index) => index % 2 === 0)
  }
}
