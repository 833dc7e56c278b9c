import type { WindowStates } from '@scoregw/quota/store'
import { type Spans, spansAt, viewRow, viewSlots } from '../one-unit.ts'
import type { Replay } from './operation.ts'

/** Charges rows all whose windows are open. */
export function chargeOpen({ cells, layout }: Replay, rows: readonly number[], tokens: number): void {
  for (const at of rows) {
    for (let i = at + 1; i < at + 2 * layout.width; i += 2) cells[i] = cells[i]! + tokens
  }
}

/** The states of rows all whose windows are open: the cells are the states. */
export function statesOfCells({ cells, layout }: Replay, rows: readonly number[]): WindowStates {
  const { rowCells } = layout
  const states: number[] = new Array(rows.length * rowCells).fill(0.5)
  for (let l = 0; l < rows.length; l++) {
    const at = rows[l]!
    for (let i = 0; i < rowCells; i++) states[l * rowCells + i] = cells[at + i]!
    if (layout.hasSlots) viewSlots(cells, at + 2 * layout.width, states, layout.cellAt(l, layout.width))
  }
  return states
}

/** The states of rows as they are; `undefined`: the clock is outside of the periods. */
export function viewOf(
  { cells, layout, now }: Replay,
  rows: readonly number[],
  periods: readonly number[] | undefined,
): WindowStates | undefined {
  const states: number[] = new Array(rows.length * layout.rowCells).fill(0.5)
  for (let l = 0; l < rows.length; l++) {
    const spans = spansAt(layout, now, periods, l)
    if (spans === undefined) return undefined
    viewRow(cells, rows[l]!, spans, states, layout.rowAt(l))
    if (layout.hasSlots) viewSlots(cells, rows[l]! + 2 * layout.width, states, layout.cellAt(l, layout.width))
  }
  return states
}

/** The spans of one of the rows of a request that the script answered: its clock is in the request's periods. */
export function spansOf({ layout, now }: Replay, periods: readonly number[] | undefined, slot: number): Spans {
  return spansAt(layout, now, periods, slot)!
}
