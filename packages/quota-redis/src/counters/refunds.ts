import { NOT_OPEN, usedLayers } from '@scoregw/quota/internal'
import type { SettleRequest } from '@scoregw/quota/store'
import type { Keys } from '../keys/keys.ts'
import type { Batch } from './batch.ts'
import type { Refund } from './charges.ts'
import type { Replay } from './replay.ts'

/** A refund to a cell, by its indexes in a batch. */
export interface PlacedRefund {
  /** From 1. */
  readonly row: number
  readonly cell: number
  /** The start of the opening that is refunded. Below 0, the cell is closed. */
  readonly startedAt: number
  /** Below 0, it is charged regardless of the limits. */
  readonly amount: number
  /** Whether the cell is closed when nothing is left. */
  readonly closes: boolean
}

/** Refunds to the windows of a reply. */
export function refundsOfStates(request: SettleRequest, keys: Keys): Refund[] {
  const { subject, states } = request
  const { cells, counted } = keys.layout
  return usedLayers(keys.layout, request).flatMap((layer) => {
    const row = keys.nameOf(keys.row(layer, subject))
    return counted[request.set]![layer]!.flatMap((at) => {
      const { identity, unit } = cells[at]!
      const startedAt = states[2 * at] ?? NOT_OPEN
      // Slots have no refund: their hold frees them.
      const amount = request.refunds[unit] ?? 0
      return startedAt === NOT_OPEN || amount === 0 ? [] : [{ row, identity, startedAt, amount, closes: false }]
    })
  })
}

export function placedIn(batch: Batch, refunds: readonly Refund[]): readonly PlacedRefund[] {
  return refunds.map(({ row, identity, ...refund }) => {
    const place = batch.rowNamed(row)
    return { ...refund, row: place, cell: batch.bookOf(place).numberOf(identity) }
  })
}

/** The rows of refunds, each once. */
export function rowsOf(refunds: readonly PlacedRefund[]): readonly number[] {
  return [...new Set(refunds.map(({ row }) => row))]
}

/** Writes steps that fail if a row cannot be read. @returns the rows' indexes in the replay */
export function encodeReadable(batch: Batch, rows: readonly number[]): readonly number[] {
  for (const row of rows) batch.step('readable', row, batch.listOf(row))
  return rows.map((row) => row - 1)
}

export function encodeRefunds(batch: Batch, refunds: readonly PlacedRefund[]): void {
  for (const { row, cell, startedAt, amount, closes } of refunds) {
    batch.step('give', row, cell, startedAt, amount, closes ? 1 : 0)
  }
}

export function replayRefunds(replay: Replay, refunds: readonly PlacedRefund[]): void {
  for (const { row, cell, startedAt, amount, closes } of refunds) replay.give(row - 1, cell, startedAt, amount, closes)
}
