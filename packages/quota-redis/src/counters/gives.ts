import { NOT_OPEN, type SettleRequest } from '@scoregw/quota/store'
import type { Keys } from '../keys/keys.ts'
import type { Batch } from './batch.ts'
import type { Give } from './charges.ts'
import type { Replay } from './replay.ts'

/** What goes back to a cell, by the places that a batch has for them. */
export interface PlacedGive {
  /** From 1. */
  readonly row: number
  readonly cell: number
  /** Of the opening that it goes to; below 0: the cell is closed. */
  readonly startedAt: number
  /** Below 0: it is charged whatever the limits. */
  readonly amount: number
  /** Whether the cell is closed when nothing is left. */
  readonly closes: boolean
}

/** What goes back to the windows of a reply. */
export function givesOfStates({ category, subject, layers, states, ...request }: SettleRequest, keys: Keys): Give[] {
  const { layout } = keys
  return layers.flatMap((layer, slot) => {
    const row = keys.nameOf(keys.row(layer, category, subject))
    return layout.identities.slice(0, layout.width).flatMap((identity, c) => {
      const startedAt = states[layout.cellAt(slot, c)] ?? NOT_OPEN
      const amount = request.giveBack[layout.units[c]!]!
      return startedAt === NOT_OPEN || amount === 0 ? [] : [{ row, identity, startedAt, amount, closes: false }]
    })
  })
}

export function placedIn(batch: Batch, gives: readonly Give[]): readonly PlacedGive[] {
  return gives.map(({ row, identity, ...give }) => {
    return { ...give, row: batch.rowNamed(row), cell: batch.book.numberOf(identity) }
  })
}

/** The rows of what goes back, each once. */
export function rowsOf(gives: readonly PlacedGive[]): readonly number[] {
  return [...new Set(gives.map(({ row }) => row))]
}

/** Writes steps that fail where one of some rows cannot be read. @returns their places in the replay */
export function encodeReadable(batch: Batch, rows: readonly number[]): readonly number[] {
  for (const row of rows) batch.step('readable', row)
  return rows.map((row) => row - 1)
}

export function encodeGives(batch: Batch, gives: readonly PlacedGive[]): void {
  for (const { row, cell, startedAt, amount, closes } of gives) {
    batch.step('give', row, cell, startedAt, amount, closes ? 1 : 0)
  }
}

export function replayGives(replay: Replay, gives: readonly PlacedGive[]): void {
  for (const { row, cell, startedAt, amount, closes } of gives) replay.give(row - 1, cell, startedAt, amount, closes)
}
