import type { Cells } from './row.ts'
import { CLOSED, NOT_OPEN } from './window.ts'

/**
 * The cell of slots, `[startedAt, taken]` at `i`: how much work is under way. It is checked and charged in the same decision
 * as the windows of its row, and nothing but the end of a hold gives a slot back: no time, no reset, no clock.
 */

/** Whether one more slot is free. */
export function slotFits(cells: Cells, i: number, limit: number): boolean {
  return Math.max(0, cells[i + 1]!) + 1 <= limit
}

/** Takes a slot. The caller has asked {@link slotFits}. */
export function takeSlot(cells: Cells, i: number, now: number): void {
  if (cells[i + 1] === CLOSED) {
    // Later than any earlier start, so that a slot of a row that was lost is not given back to this one.
    cells[i] = Math.max(now, cells[i]! + 1)
    cells[i + 1] = 1
  } else {
    cells[i + 1] = cells[i + 1]! + 1
  }
}

/**
 * Gives a slot back that was taken when the cell had this start. The last one closes the cell, so that a row which is kept
 * shows what one shows that was dropped.
 */
export function freeSlot(cells: Cells, i: number, startedAt: number): void {
  if (cells[i + 1] !== CLOSED && cells[i] === startedAt) cells[i + 1] = cells[i + 1]! > 1 ? cells[i + 1]! - 1 : CLOSED
}

/** Writes what can be seen of a slots' cell into `state` at `to`: `[-1, 0]` before one was taken. */
export function viewSlots(cells: Cells, i: number, state: number[], to: number): void {
  const isUsed = cells[i + 1] !== CLOSED
  state[to] = isUsed ? cells[i]! : NOT_OPEN
  state[to + 1] = isUsed ? cells[i + 1]! : 0
}
