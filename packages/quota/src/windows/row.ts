import type { Spans } from './layout.ts'
import { CLOSED, MAX_AHEAD_MS, MAX_USED, NOT_OPEN } from './window.ts'

/**
 * A row is the cells of one (layer, subject, category), packed as `[startedAt, used]` pairs of numbers from an
 * offset `at` of a larger array: those of its windows, and behind them that of slots, see `slots.ts`. The pair of a window
 * is in one of these states:
 *
 * | pair | state |
 * |---|---|
 * | `[-1, -1]` | never opened |
 * | `[s, -1]` | closed by a reset; `s` is kept so that the next opening is later than `s` |
 * | `[s, u]`, `now < s + length` | open since `s`, `u` tokens used (also when the clock stepped back before `s`) |
 * | `[s, u]`, otherwise | over: as good as closed |
 *
 * where `length` is what {@link Spans} say at `now`. The functions here are the only ones that move windows from one state
 * to the next. They take the time as an argument, allocate nothing, and a row that {@link fits} refuses is not written at
 * all but by {@link reanchor}.
 */
export interface Cells {
  [index: number]: number
}

function isOpen(startedAt: number, used: number, lengthMs: number, now: number): boolean {
  return used !== CLOSED && now < startedAt + lengthMs
}

/**
 * The window's start as the clock has it: never further ahead than {@link MAX_AHEAD_MS}.
 *
 * A start that is moved becomes `now + 1`, later than what was opened when the clock last stood at `now`, so that late
 * refunds of that do not find this window. A clock that keeps jumping can still bring two openings onto one start: a row
 * knows a single one, and whatever start is chosen may be that of an opening it has forgotten.
 */
function anchored(startedAt: number, now: number): number {
  return startedAt - now > MAX_AHEAD_MS ? now + 1 : startedAt
}

/** Makes a row one whose cells never opened. */
export function clearRow(cells: Cells, at: number, size: number): void {
  for (let i = at; i < at + 2 * size; i++) cells[i] = CLOSED
}

/** A row of its own whose cells never opened. */
export function closedRow(cells: number): number[] {
  // An array that was made of fractions holds plain doubles; one of small integers would be copied at the first instant.
  return new Array<number>(2 * cells).fill(0.5).fill(CLOSED)
}

/**
 * Whether every window of a row has room for a cost.
 *
 * @param limits limits in tokens (`Infinity`: unlimited), this row's beginning at `from`
 */
export function fits(
  cells: Cells,
  at: number,
  { lengthsMs }: Spans,
  limits: readonly number[],
  from: number,
  cost: number,
  now: number,
): boolean {
  for (let w = 0; w < lengthsMs.length; w++) {
    const i = at + 2 * w
    const used = cells[i + 1]!
    const open = isOpen(cells[i]!, used, lengthsMs[w]!, now)
    if ((open ? used : 0) + cost > limits[from + w]!) return false
  }
  return true
}

/**
 * Tokens that fit into every window of a row; below 0 where one holds more than its limit.
 *
 * @param limits as of {@link fits}
 */
export function roomIn(
  cells: Cells,
  at: number,
  { lengthsMs }: Spans,
  limits: readonly number[],
  from: number,
  now: number,
): number {
  let room = Number.POSITIVE_INFINITY
  for (let w = 0; w < lengthsMs.length; w++) {
    const i = at + 2 * w
    const used = cells[i + 1]!
    const open = isOpen(cells[i]!, used, lengthsMs[w]!, now)
    room = Math.min(room, limits[from + w]! - (open ? used : 0))
  }
  return room
}

/** Charges a cost to every window of a row, opening those that are not open. The caller has asked {@link fits}. */
export function charge(cells: Cells, at: number, { lengthsMs, agesMs }: Spans, cost: number, now: number): void {
  for (let w = 0; w < lengthsMs.length; w++) chargeWindow(cells, at + 2 * w, lengthsMs[w]!, agesMs[w]!, cost, now)
}

/** As {@link charge}, and writes what {@link viewRow} would say thereafter into `state` from `to` on. */
export function chargeAndView(
  cells: Cells,
  at: number,
  { lengthsMs, agesMs }: Spans,
  cost: number,
  now: number,
  state: number[],
  to: number,
): void {
  for (let w = 0; w < lengthsMs.length; w++) {
    const i = at + 2 * w
    chargeWindow(cells, i, lengthsMs[w]!, agesMs[w]!, cost, now)
    // The window is open now, so that its cells are its state.
    state[to + 2 * w] = cells[i]!
    state[to + 2 * w + 1] = cells[i + 1]!
  }
}

function chargeWindow(cells: Cells, i: number, lengthMs: number, ageMs: number, cost: number, now: number): void {
  const startedAt = cells[i]!
  const used = cells[i + 1]!
  if (isOpen(startedAt, used, lengthMs, now)) {
    cells[i] = anchored(startedAt, now)
    cells[i + 1] = Math.min(used + cost, MAX_USED)
  } else {
    // Later than any earlier opening, so that a start identifies a window and a late refund finds only its own.
    cells[i] = Math.max(now - ageMs, anchored(startedAt, now) + 1)
    cells[i + 1] = cost
  }
}

/**
 * Moves windows that a fast clock opened in the far future to the present. The one write a refusal may make. Closed ones
 * keep their start, which the next opening has to be later than.
 */
export function reanchor(cells: Cells, at: number, windows: number, now: number): void {
  for (let i = at; i < at + 2 * windows; i += 2) if (cells[i + 1] !== CLOSED) cells[i] = anchored(cells[i]!, now)
}

/** What is left of `used` when tokens go back, or come in addition (below 0); all where more was charged than is counted. */
function less(used: number, tokens: number): number {
  return used === MAX_USED ? used : Math.min(MAX_USED, Math.max(0, used - tokens))
}

/**
 * Gives tokens back to the very windows they came from; windows with another start are left alone.
 *
 * @param startedAts starts of the windows that were charged, this row's beginning at `from`
 */
export function refund(
  cells: Cells,
  at: number,
  windows: number,
  startedAts: readonly number[],
  from: number,
  tokens: number,
): void {
  for (let w = 0; w < windows; w++) {
    const i = at + 2 * w
    const used = cells[i + 1]!
    if (used !== CLOSED && cells[i] === startedAts[from + w]) cells[i + 1] = less(used, tokens)
  }
}

/**
 * Gives back what a hold charged, as far as the very windows are still there.
 *
 * @param charged pairs `[startedAt, tokens]`: what the hold charged to each window, and when that one opened; this row's
 * beginning at `from`
 * @param tokens how much of it goes back, the newest first: of each window at most what was charged to it
 */
export function refundCharged(
  cells: Cells,
  at: number,
  windows: number,
  charged: readonly number[],
  from: number,
  tokens: number,
): void {
  for (let w = 0; w < windows; w++) {
    const i = at + 2 * w
    const used = cells[i + 1]!
    if (used === CLOSED || cells[i] !== charged[from + 2 * w]) continue
    cells[i + 1] = less(used, Math.min(tokens, charged[from + 2 * w + 1]!))
  }
}

/**
 * Takes a charge back as if it had never been: as {@link refund}, and windows that the charge opened and that nobody else
 * used are closed again.
 *
 * @param takenAt the instant of the charge: a window that starts no earlier was opened by it
 */
export function undo(
  cells: Cells,
  at: number,
  windows: number,
  startedAts: readonly number[],
  from: number,
  tokens: number,
  takenAt: number,
): void {
  for (let w = 0; w < windows; w++) {
    const i = at + 2 * w
    const used = cells[i + 1]!
    if (used === CLOSED || cells[i] !== startedAts[from + w]) continue
    const left = less(used, tokens)
    cells[i + 1] = left === 0 && cells[i]! >= takenAt ? CLOSED : left
  }
}

/** Closes every window of a row: nothing used, and the next opening is later than the last. Slots stay taken. */
export function close(cells: Cells, at: number, windows: number): void {
  for (let i = at; i < at + 2 * windows; i += 2) cells[i + 1] = CLOSED
}

/** Writes `[startedAt, used]` of a row into `state` from `to` on, as seen at `now`; `[-1, 0]` for windows not open. */
export function viewRow(
  cells: Cells,
  at: number,
  { lengthsMs }: Spans,
  now: number,
  state: number[],
  to: number,
): void {
  for (let w = 0; w < lengthsMs.length; w++) {
    const i = at + 2 * w
    const used = cells[i + 1]!
    const startedAt = anchored(cells[i]!, now)
    const open = isOpen(startedAt, used, lengthsMs[w]!, now)
    state[to + 2 * w] = open ? startedAt : NOT_OPEN
    state[to + 2 * w + 1] = open ? used : 0
  }
}

/**
 * When the last of a row's cells ends at the latest, epoch milliseconds; before they ever opened, long ago. `Infinity` while
 * slots are taken, which no time frees.
 *
 * @param lengthsMs see `CellSchema.lengthMs`, one a cell
 */
export function lastEnd(cells: Cells, at: number, lengthsMs: readonly number[]): number {
  let end = 0
  for (let c = 0; c < lengthsMs.length; c++) {
    const lengthMs = lengthsMs[c]!
    const isOver = lengthMs === Number.POSITIVE_INFINITY && cells[at + 2 * c + 1]! <= 0
    if (!isOver) end = Math.max(end, cells[at + 2 * c]! + lengthMs)
  }
  return end
}
