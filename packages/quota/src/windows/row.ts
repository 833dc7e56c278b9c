import { ALWAYS_OPEN } from './kinds/kind.ts'

/** `used` of a window that was reset or never opened. */
export const CLOSED = -1

/** The most tokens that a window counts: the sum stays a safe integer. */
export const MAX_USED: number = Number.MAX_SAFE_INTEGER

/**
 * How long a row is kept after its last window ended, in milliseconds. A clock that steps back a little then still
 * finds it.
 */
export const GRACE_MS = 60_000

/** The start of a window in a state that isn't open. */
export const NOT_OPEN = -1

/**
 * A window that starts further ahead of the clock, in milliseconds, was opened by a fast clock. It is moved to the
 * present and keeps its use. Otherwise its users would be locked out until then.
 */
export const MAX_AHEAD_MS = 5_000

/**
 * A row is the cells of one (layer, subject): pairs `[startedAt, used]` in a larger array of numbers. The pair
 * at `i` is in one of these states:
 *
 * | pair | state |
 * |---|---|
 * | `[-1, -1]` | never opened |
 * | `[s, -1]` | closed by a reset, or by freeing the last slot; the next opening is later than `s` |
 * | `[s, u]`, `s > after` | open since `s`, `u` used (also if the clock stepped back before `s`) |
 * | `[s, u]`, otherwise | ended: equivalent to closed |
 *
 * Kinds of limits differ in `after`, see `Instant.after`. A bucket also ends when all its tokens have returned. Only the
 * functions here write pairs: {@link roll} opens a cell, {@link add} charges it, and the others refund.
 */
export interface Cells {
  [index: number]: number
}

/** Returns when the cell at `i` started. */
export function startIn(cells: Cells, i: number): number {
  return cells[i]!
}

/** Returns what the cell at `i` has counted since its start, or {@link CLOSED}. */
export function countIn(cells: Cells, i: number): number {
  return cells[i + 1]!
}

/** Limits a start to {@link MAX_AHEAD_MS} ahead. A moved start is later than that of a window opened at `now`. */
function anchored(startedAt: number, after: number, now: number): number {
  return startedAt - now > MAX_AHEAD_MS && after !== ALWAYS_OPEN ? now + 1 : startedAt
}

function isOpen(cells: Cells, i: number, after: number): boolean {
  return countIn(cells, i) !== CLOSED && startIn(cells, i) > after
}

/** Returns what a cell has used. */
export function usedIn(cells: Cells, i: number, after: number): number {
  return isOpen(cells, i, after) ? countIn(cells, i) : 0
}

/**
 * Opens a cell if necessary, and moves one that starts too far ahead. A new opening starts later than any earlier one.
 * So a start identifies a window, and a late refund finds only its own. A clock that keeps jumping can still produce
 * two openings with one start, because a cell knows only one.
 *
 * @param opensAt the start of a cell that opens now
 */
export function roll(cells: Cells, i: number, after: number, opensAt: number, now: number): void {
  const startedAt = anchored(startIn(cells, i), after, now)
  const wasOpen = isOpen(cells, i, after)
  cells[i] = wasOpen ? startedAt : Math.max(opensAt, startedAt + 1)
  if (!wasOpen) cells[i + 1] = 0
}

/**
 * Whether a bucket is full again. Never in the millisecond of its start: otherwise repeated charges and refunds would
 * move its start ever further ahead of the clock.
 */
export function isFull(used: number, ageMs: number, rate: number, perMs: number): boolean {
  return ageMs > 0 && cameBack(ageMs, rate, perMs) >= used
}

/**
 * Like {@link roll}, for a bucket. A full one opens again. If it is older than `perMs`, its start moves by that. The
 * state stays the same, because exactly its limit has refilled in that time.
 *
 * @param rate tokens that refill per `perMs`, above 0
 */
export function rollBucket(cells: Cells, i: number, after: number, now: number, rate: number, perMs: number): void {
  const [startedAt, used] = [startIn(cells, i), countIn(cells, i)]
  const stays = isOpen(cells, i, after) && !isFull(used, now - startedAt, rate, perMs)
  roll(cells, i, stays ? after : Number.POSITIVE_INFINITY, now, now)
  if (!stays || now - startedAt < perMs) return
  cells[i] = startedAt + perMs
  cells[i + 1] = used - rate
}

/** Charges an open cell. */
export function add(cells: Cells, i: number, cost: number): void {
  cells[i + 1] = Math.min(countIn(cells, i) + cost, MAX_USED)
}

/**
 * Moves a cell that a fast clock opened too far ahead to the present. This is the only write of a refusal. A closed
 * cell keeps its start, because the next opening must be later.
 */
export function reanchor(cells: Cells, i: number, after: number, now: number): void {
  if (countIn(cells, i) !== CLOSED) cells[i] = anchored(startIn(cells, i), after, now)
}

/**
 * Returns the use after a refund, or after an addition (below 0). If more was charged than can be counted, it stays.
 */
function less(used: number, amount: number): number {
  return used === MAX_USED ? used : Math.min(MAX_USED, Math.max(0, used - amount))
}

/**
 * Refunds the opening that was charged. A cell with a different start is unchanged.
 *
 * @param amount at least 0; below 0, it is charged regardless of the limits
 * @param isSlots freeing the last slot closes the cell, so that a kept row equals a dropped one
 */
export function refund(cells: Cells, i: number, startedAt: number, amount: number, isSlots = false): void {
  const used = countIn(cells, i)
  if (used === CLOSED || startIn(cells, i) !== startedAt || amount === 0) return
  cells[i + 1] = isSlots && used <= amount ? CLOSED : less(used, amount)
}

/** Closes a cell: nothing is used, and the next opening starts later than the last. */
export function close(cells: Cells, i: number): void {
  cells[i + 1] = CLOSED
}

/** Initializes a row whose cells never opened. */
export function clearRow(cells: Cells, at: number, size: number): void {
  for (let i = at; i < at + 2 * size; i++) cells[i] = CLOSED
}

/** Writes a cell's current `[startedAt, used]` to `state` at `to`; `[-1, 0]` if it isn't open. */
export function view(cells: Cells, i: number, after: number, now: number, state: number[], to: number): void {
  const shows = isOpen(cells, i, after)
  state[to] = shows ? anchored(startIn(cells, i), after, now) : NOT_OPEN
  state[to + 1] = shows ? countIn(cells, i) : 0
}

/**
 * Returns when the last of a row's cells ends at the latest, in epoch milliseconds; long ago if none ever opened.
 * `Infinity` while slots are taken.
 *
 * @param lengthsMs see `CellSchema.lengthMs`, one per cell
 */
export function lastEnd(cells: Cells, at: number, lengthsMs: readonly number[]): number {
  let end = 0
  let i = at
  for (const lengthMs of lengthsMs) {
    const isOver = lengthMs === Number.POSITIVE_INFINITY && countIn(cells, i) <= 0
    if (!isOver) end = Math.max(end, startIn(cells, i) + lengthMs)
    i += 2
  }
  return end
}

/**
 * Returns how many tokens refill in a time: `floor(ageMs x rate / perMs)`, exactly.
 *
 * @param rate tokens per `perMs`
 */
export function cameBack(ageMs: number, rate: number, perMs: number): number {
  if (ageMs <= 0) return 0
  const product = ageMs * rate
  if (product <= Number.MAX_SAFE_INTEGER) return Math.floor(product / perMs)
  return Number((BigInt(ageMs) * BigInt(rate)) / BigInt(perMs))
}

/**
 * Returns after how many milliseconds this many tokens, at least 1, have refilled. At most twice `perMs`, because the
 * rest is dropped then.
 */
export function timeFor(tokens: number, rate: number, perMs: number): number {
  if (tokens >= 2 * rate) return 2 * perMs
  const product = tokens * perMs
  if (product <= Number.MAX_SAFE_INTEGER) return Math.ceil(product / rate)
  return Number((BigInt(tokens) * BigInt(perMs) + BigInt(rate) - 1n) / BigInt(rate))
}
