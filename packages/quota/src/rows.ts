/**
 * For those who write a store: the transitions of a packed row of windows, as every store makes them.
 *
 * @module
 */
export { type Cells, charge, clearRow, close, fits, reanchor, refund, viewRow } from './windows/row.ts'
