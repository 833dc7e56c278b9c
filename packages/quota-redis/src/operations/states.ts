import { viewRow, type WindowStates } from '@scoregw/quota/store'
import type { Replay } from './operation.ts'

/** The states of rows all whose windows are open: the cells are the states. */
export function statesOfCells({ cells, layout }: Replay, rows: readonly number[]): WindowStates {
  const { rowCells } = layout
  const states: number[] = new Array(rows.length * rowCells).fill(0.5)
  for (let l = 0; l < rows.length; l++) {
    const at = rows[l]!
    for (let i = 0; i < rowCells; i++) states[l * rowCells + i] = cells[at + i]!
  }
  return states
}

/** The states of rows as they are. */
export function viewOf({ cells, layout, now }: Replay, rows: readonly number[]): WindowStates {
  const states: number[] = new Array(rows.length * layout.rowCells).fill(0.5)
  for (let l = 0; l < rows.length; l++) viewRow(cells, rows[l]!, layout.lengthsMs, now, states, layout.rowAt(l))
  return states
}
