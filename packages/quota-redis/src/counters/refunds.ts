import { NOT_OPEN, usedLayers } from '@scoregw/quota/internal'
import type { SettleRequest } from '@scoregw/quota/store'
import type { Keys } from '../keys/keys.ts'
import type { Batch } from './batch.ts'
import type { Refund } from './charges.ts'
import type { Replay } from './replay.ts'
import type { PlacedRefund, Row } from './rows.ts'

/** Refunds to the windows of a reply. */
export function refundsOfStates(request: SettleRequest, keys: Keys): Refund[] {
  const { subject, states } = request
  const { layout } = keys
  return usedLayers(layout, request).flatMap((layer) => {
    const row = keys.nameOf(keys.row(layer, subject))
    return layout.countedIn(request.set, layer).flatMap((at) => {
      const { identity, unit } = layout.cellAt(at)
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
    return { ...refund, row: place, cell: place.book.numberOf(identity) }
  })
}

/** The rows of refunds, each once. */
export function rowsOf(refunds: readonly PlacedRefund[]): readonly Row[] {
  return [...new Set(refunds.map(({ row }) => row))]
}

/** Writes steps that fail if a row cannot be read. */
export function encodeReadable(batch: Batch, rows: readonly Row[]): void {
  for (const row of rows) batch.step('readable', row.place, batch.listOf(row))
}

export function encodeRefunds(batch: Batch, refunds: readonly PlacedRefund[]): void {
  for (const { row, cell, startedAt, amount, closes } of refunds) {
    batch.step('give', row.place, cell, startedAt, amount, closes ? 1 : 0)
  }
}

export function replayRefunds(replay: Replay, refunds: readonly PlacedRefund[]): void {
  for (const refund of refunds) replay.give(refund)
}
