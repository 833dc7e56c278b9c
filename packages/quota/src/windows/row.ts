import { MAX_AHEAD_MS, NOT_OPEN } from './window.ts'

/**
 * A row is the windows of one (layer, subject, category), packed as `[startedAt, used]` pairs of numbers from an
 * offset `at` of a larger array. Each pair is in one of these states:
 *
 * | pair | state |
 * |---|---|
 * | `[-1, -1]` | never opened |
 * | `[s, -1]` | closed by a reset; `s` is kept so that the next opening is later than `s` |
 * | `[s, u]`, `now < s + length` | open since `s`, `u` tokens used (also when the clock stepped back before `s`) |
 * | `[s, u]`, otherwise | over: as good as closed |
 *
 * The functions here are the only ones that move a row from one state to the next. They take the time as an argument,
 * allocate nothing, and a row that {@link fits} refuses is not written at all but by {@link reanchor}.
 */
export interface Cells {
  [index: number]: number
}

/** `used` of a window that a reset closed, or that never opened. */
const CLOSED = -1

function isOpen(startedAt: number, used: number, lengthMs: number, now: number): boolean {
  return used !== CLOSED && now < startedAt + lengthMs
}

/** The window's start as the clock has it: never further ahead than {@link MAX_AHEAD_MS}. */
function anchored(startedAt: number, now: number): number {
  return startedAt - now > MAX_AHEAD_MS ? now : startedAt
}

/** Makes a row one whose windows never opened. */
export function clearRow(cells: Cells, at: number, windows: number): void {
  for (let i = at; i < at + 2 * windows; i++) cells[i] = CLOSED
}

/** A row of its own whose windows never opened. */
export function closedRow(windows: number): number[] {
  // An array that was made of fractions holds plain doubles; one of small integers would be copied at the first instant.
  return new Array<number>(2 * windows).fill(0.5).fill(CLOSED)
}

/**
 * Whether every window of a row has room for a cost.
 *
 * @param limits limits in tokens (`Infinity`: unlimited), this row's beginning at `from`
 */
export function fits(
  cells: Cells,
  at: number,
  lengthsMs: readonly number[],
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

/** Charges a cost to every window of a row, opening those that are not open. The caller has asked {@link fits}. */
export function charge(cells: Cells, at: number, lengthsMs: readonly number[], cost: number, now: number): void {
  for (let w = 0; w < lengthsMs.length; w++) chargeWindow(cells, at + 2 * w, lengthsMs[w]!, cost, now)
}

/** As {@link charge}, and writes what {@link viewRow} would say thereafter into `state` from `to` on. */
export function chargeAndView(
  cells: Cells,
  at: number,
  lengthsMs: readonly number[],
  cost: number,
  now: number,
  state: number[],
  to: number,
): void {
  for (let w = 0; w < lengthsMs.length; w++) {
    const i = at + 2 * w
    chargeWindow(cells, i, lengthsMs[w]!, cost, now)
    // The window is open now, so that its cells are its state.
    state[to + 2 * w] = cells[i]!
    state[to + 2 * w + 1] = cells[i + 1]!
  }
}

function chargeWindow(cells: Cells, i: number, lengthMs: number, cost: number, now: number): void {
  const startedAt = cells[i]!
  const used = cells[i + 1]!
  if (isOpen(startedAt, used, lengthMs, now)) {
    if (startedAt - now > MAX_AHEAD_MS) cells[i] = now
    cells[i + 1] = Math.min(used + cost, Number.MAX_SAFE_INTEGER)
  } else {
    // Later than any earlier opening, so that a start identifies a window and a late refund finds only its own.
    cells[i] = Math.max(now, anchored(startedAt, now) + 1)
    cells[i + 1] = cost
  }
}

/** Moves windows that a fast clock opened in the far future to the present. The one write a refusal may make. */
export function reanchor(cells: Cells, at: number, windows: number, now: number): void {
  for (let i = at; i < at + 2 * windows; i += 2) cells[i] = anchored(cells[i]!, now)
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
    if (used !== CLOSED && cells[i] === startedAts[from + w]) cells[i + 1] = Math.max(0, used - tokens)
  }
}

/** Closes every window of a row: nothing used, and the next opening is later than the last. */
export function close(cells: Cells, at: number, windows: number): void {
  for (let i = at; i < at + 2 * windows; i += 2) cells[i + 1] = CLOSED
}

/** Writes `[startedAt, used]` of a row into `state` from `to` on, as seen at `now`; `[-1, 0]` for windows not open. */
export function viewRow(
  cells: Cells,
  at: number,
  lengthsMs: readonly number[],
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

/** Whether a row says nothing any more: all its windows ended at least `graceMs` ago. */
export function isForgettable(
  cells: Cells,
  at: number,
  lengthsMs: readonly number[],
  now: number,
  graceMs: number,
): boolean {
  for (let w = 0; w < lengthsMs.length; w++) {
    if (now < cells[at + 2 * w]! + lengthsMs[w]! + graceMs) return false
  }
  return true
}
