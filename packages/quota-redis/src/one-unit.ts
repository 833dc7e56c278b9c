import {
  add,
  type Cells,
  close as closeCell,
  type ExtendRequest,
  type HoldTerms as Held,
  type HoldReply,
  Instant,
  type Layout,
  type HoldRecord as Listed,
  type ListHoldsRequest,
  type EndedHold as NamedEnd,
  type GrowRequest as PortGrow,
  type SettleRequest as PortSettle,
  type SettleHoldRequest as PortSettleHold,
  type TakeRequest as PortTake,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  reanchor as reanchorCell,
  refund as refundCell,
  roll,
  type SettleHoldReply as SettledHold,
  type TakeReply,
  undo as undoCell,
  usedIn,
  view,
} from '@scoregw/quota/store'

/** The port as the scripts have it, which count one unit and slots. */
export interface HoldTerms extends Held {
  readonly slot: boolean
}
export interface TakeRequest extends Omit<PortTake, 'costs' | 'hold'> {
  readonly cost: number
  readonly hold?: HoldTerms | undefined
}
export interface SettleRequest extends Omit<PortSettle, 'giveBack'> {
  readonly giveBack: number
}
export interface GrowRequest extends Omit<PortGrow, 'costs'> {
  readonly tokens: number
}
export interface SettleHoldRequest extends Omit<PortSettleHold, 'actual' | 'maxOverrun'> {
  readonly actual?: number | undefined
  readonly maxOverrun: number
}
export interface SettleHoldReply extends Omit<SettledHold, 'charged' | 'uncharged' | 'reserved' | 'added'> {
  readonly charged: number
  readonly uncharged: number
  readonly reserved: number
  readonly added?: number | undefined
}
export interface HoldRecord extends Omit<Listed, 'costs'> {
  readonly tokens: number
  readonly slot: boolean
}
export interface EndedHold extends Omit<NamedEnd, 'costs'> {
  readonly tokens: number
}
export interface ListHoldsReply {
  readonly now: number
  readonly holds: readonly HoldRecord[]
}
export interface SweepReply {
  readonly ended: readonly EndedHold[]
  readonly open: number
}

/** Holds of one unit. */
export interface OneUnitHolds {
  extend(request: ExtendRequest): Promise<HoldReply>
  grow(request: GrowRequest): Promise<HoldReply>
  settle(request: SettleHoldRequest): Promise<SettleHoldReply>
  list(request: ListHoldsRequest): Promise<ListHoldsReply>
  sweep(): Promise<SweepReply>
}

/** Counters of one unit. */
export interface OneUnitCounters {
  take(request: TakeRequest): Promise<TakeReply>
  read(request: ReadRequest): Promise<ReadReply>
  settle(request: SettleRequest): Promise<void>
  reset(request: ResetRequest): Promise<void>
  readonly holds: OneUnitHolds
}

/** What is open at an instant in one row. */
export interface Spans {
  readonly now: number
  readonly after: readonly number[]
  readonly opensAt: readonly number[]
  readonly width: number
}

/** The spans of the row of the `slot`th layer; `undefined` where the clock is outside of the periods. */
export function spansAt(
  layout: Layout,
  now: number,
  periods: readonly number[] | undefined,
  slot: number,
): Spans | undefined {
  const instant = new Instant(layout)
  const from = layout.limitAt(slot, 0)
  const own = periods?.slice(layout.periodsAt(slot))
  if (!instant.moveTo(now, own, from < 0 ? 0 : 1)) return undefined
  return { now, after: instant.after, opensAt: instant.opensAt, width: layout.width }
}

/** Whether every window of a row has room. */
export function fits(
  cells: Cells,
  at: number,
  { after, width }: Spans,
  limits: readonly number[],
  from: number,
  cost: number,
): boolean {
  for (let w = 0; w < width; w++) if (usedIn(cells, at + 2 * w, after[w]!) + cost > limits[from + w]!) return false
  return true
}

/** Charges every window of a row. */
export function charge(cells: Cells, at: number, { after, opensAt, now, width }: Spans, cost: number): void {
  for (let w = 0; w < width; w++) {
    roll(cells, at + 2 * w, after[w]!, opensAt[w]!, now)
    add(cells, at + 2 * w, cost)
  }
}

/** Writes the states of a row's windows. */
export function viewRow(cells: Cells, at: number, { after, now, width }: Spans, state: number[], to: number): void {
  for (let w = 0; w < width; w++) view(cells, at + 2 * w, after[w]!, now, state, to + 2 * w)
}

/** Writes the state of a slots' cell. */
export function viewSlots(cells: Cells, i: number, state: number[], to: number): void {
  view(cells, i, Number.NEGATIVE_INFINITY, 0, state, to)
}

export function reanchor(cells: Cells, at: number, windows: number, now: number): void {
  for (let i = at; i < at + 2 * windows; i += 2) reanchorCell(cells, i, 0, now)
}

export function refund(
  cells: Cells,
  at: number,
  windows: number,
  startedAts: readonly number[],
  from: number,
  tokens: number,
): void {
  for (let w = 0; w < windows; w++) refundCell(cells, at + 2 * w, startedAts[from + w]!, tokens)
}

export function undo(
  cells: Cells,
  at: number,
  windows: number,
  startedAts: readonly number[],
  from: number,
  tokens: number,
  takenAt: number,
): void {
  for (let w = 0; w < windows; w++) undoCell(cells, at + 2 * w, startedAts[from + w]!, tokens, takenAt)
}

export function close(cells: Cells, at: number, windows: number): void {
  for (let i = at; i < at + 2 * windows; i += 2) closeCell(cells, i)
}
