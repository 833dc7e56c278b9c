import {
  amountBack,
  cellOfIdentity,
  grownCharge,
  keyName,
  NOT_OPEN,
  nth,
  ownerOf,
  SLOTS,
  startIn,
  usedLayers,
} from '@scoregw/quota/internal'
import type { SettleRequest, SubjectKeys, WindowStates } from '@scoregw/quota/store'
import type { Keys } from '../keys/keys.ts'
import type { Batch, TakeBasis } from './batch.ts'
import type { Replay } from './replay.ts'
import type { PlacedRefund, Row } from './rows.ts'

/** A hold's charge in one cell. `row` is the row's key without the prefix. */
export type Charge = readonly [row: string, identity: string, startedAt: number, amount: number]

/** The members of a hold that its charges need. */
type Charged = { readonly charges: readonly Charge[] }

/** The charges of a take, read from the states in its reply. */
export function chargesOf(take: TakeBasis, states: WindowStates, costs: readonly number[], keys: Keys): Charge[] {
  const { layout } = keys
  return usedLayers(layout, take).flatMap((layer) => {
    const row = keys.nameOf(keys.row(layer, take.subject))
    return layout.countedIn(take.set, layer).flatMap((at): Charge[] => {
      const { identity, unit } = layout.cellAt(at)
      const amount = costs[unit] ?? 0
      return amount > 0 ? [[row, identity, startIn(states, 2 * at), amount]] : []
    })
  })
}

/** A hold's charges after it grew. */
export function merged(before: readonly Charge[], added: readonly Charge[]): readonly Charge[] {
  const isSame = (a: Charge, b: Charge): boolean => a[0] === b[0] && a[1] === b[1]
  const kept = before.filter((old) => !added.some((each) => isSame(old, each)))
  const grown = added.map((each): Charge => {
    const [row, identity, startedAt, amount] = each
    const old = before.find((charge) => isSame(charge, each))
    return old === undefined ? each : [row, identity, ...grownCharge([old[2], old[3]], [startedAt, amount])]
  })
  return [...kept, ...grown]
}

/** A hold's charges in its owner's rows, by limit: pairs `[startedAt, amount]`, or `[-1, 0]` without a charge. */
export function chargedIn({ charges }: Charged, subject: SubjectKeys, keys: Keys): readonly number[] {
  const { by } = ownerOf(keys.schema, subject)
  return keys.schema.layers.flatMap((layer, index) => {
    const isOwners = !layer.shared && keyName(layer) === by
    const row = isOwners ? keys.nameOf(keys.row(index, subject)) : undefined
    return layer.cells.flatMap(({ identity }) => {
      const charge = charges.find((each) => each[0] === row && each[1] === identity)
      return charge === undefined ? [NOT_OPEN, 0] : [charge[2], charge[3]]
    })
  })
}

/** Adds the steps that keep the rows in which a hold has slots. */
export function encodeSlots(batch: Batch, { charges, endsAt }: Charged & { readonly endsAt: number }): void {
  const slots = charges.filter(([, identity]) => cellOfIdentity(identity)?.kind === 'concurrency')
  for (const [name] of slots) batch.keep(batch.rowNamed(name), endsAt)
}

/** Each identity once, followed by one list per row: its name, then triples of identity index, start and amount. */
export type ChargesByRow = readonly [identities: readonly string[], ...rows: (string | readonly number[])[]] | 0

export function byRow(charges: readonly Charge[]): ChargesByRow {
  if (charges.length === 0) return 0
  const identities = [...new Set(charges.map(([, identity]) => identity))]
  const rows = [...new Set(charges.map(([row]) => row))]
  const ofRow = (name: string): number[] =>
    charges.flatMap(([row, identity, startedAt, amount]) =>
      row === name ? [identities.indexOf(identity), startedAt, amount] : [],
    )
  return [identities, ...rows.flatMap((row) => [row, ofRow(row)])]
}

export function fromRows(byRows: ChargesByRow): Charge[] {
  if (byRows === 0) return []
  const [identities, ...rows] = byRows
  const charges: Charge[] = []
  for (let r = 0; r < rows.length; r += 2) {
    const cells = rows[r + 1] as readonly number[]
    for (let i = 0; i < cells.length; i += 3)
      charges.push([rows[r] as string, nth(identities, nth(cells, i)), nth(cells, i + 1), nth(cells, i + 2)])
  }
  return charges
}

// Refunds -------------------------------------------------------------------------------------------------------------

/** The refund to a cell. */
export interface Refund {
  readonly row: string
  readonly identity: string
  readonly startedAt: number
  readonly amount: number
  /** Whether the cell is closed when nothing is left: slots, and windows that an undone take opened. */
  readonly closes: boolean
}

/** The refunds of a hold. @param most the largest refund per unit; everything by default */
export function refundsOf(
  { charges }: Charged,
  most: (unit: string) => number = () => Number.POSITIVE_INFINITY,
): Refund[] {
  return charges.flatMap(([row, identity, startedAt, charged]) => {
    const { unit = '' } = cellOfIdentity(identity) ?? {}
    const amount = amountBack(charged, unit, most)
    return amount > 0 ? [{ row, identity, startedAt, amount, closes: unit === SLOTS }] : []
  })
}

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

/** Refunds with their rows, which the batch gets. */
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

/** Adds the steps that refund. */
export function encodeRefunds(batch: Batch, refunds: readonly PlacedRefund[]): void {
  for (const { row, cell, startedAt, amount, closes } of refunds) {
    batch.step('give', row.place, cell, startedAt, amount, closes ? 1 : 0)
  }
}

export function replayRefunds(replay: Replay, refunds: readonly PlacedRefund[]): void {
  for (const refund of refunds) replay.give(refund)
}
