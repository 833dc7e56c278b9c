import type { ListBook } from './lists.ts'

/** A row of a call. */
export interface Row {
  readonly key: string
  /** From 1, among the rows of the call. */
  readonly place: number
  /** Where its cells begin among those of all rows. */
  readonly start: number
  readonly book: ListBook
  /** Its layer; -1: the policy lacks it. */
  readonly layer: number
  /** The position of its layer's first limit. */
  readonly first: number
}

/** A refund to a cell of a call's row. */
export interface PlacedRefund {
  readonly row: Row
  /** Its number, from 1. */
  readonly cell: number
  /** The start of the opening that is refunded. Below 0, the cell is closed. */
  readonly startedAt: number
  /** Below 0, it is charged regardless of the limits. */
  readonly amount: number
  /** Whether the cell is closed when nothing is left. */
  readonly closes: boolean
}
