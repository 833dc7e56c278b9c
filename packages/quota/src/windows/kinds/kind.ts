import type { Check, Checks } from '../../options/checks.ts'

/** A kind of limit: when its counters are open, and how their names are read. One file of this folder is one kind. */
export interface Kind {
  /** Whether time ends its counts. Slots end with the work that holds them, and a reset leaves them. */
  readonly isWindow: boolean
  /**
   * A cell is open while `start > after`. Kinds differ in this number, and buckets in what comes back. The same for all rows
   * of an instant.
   *
   * @param now epoch milliseconds
   * @param period of a calendar window: the one that `now` is in
   */
  after(lengthMs: number, now: number, period: Period | undefined): number
  /** The start of a cell that opens now, unless an earlier opening was later. */
  opensAt(now: number, period: Period | undefined): number
  /**
   * How long a count lasts, as callers see it.
   *
   * @param startedAt when it began, or `NOT_OPEN`
   * @param period of a calendar window: the one that it is in
   * @param tokens of a bucket: how many have to come back, counted from its start
   * @param rate of a bucket: how many come back each length
   */
  lasting(lengthMs: number, startedAt: number, period: () => Period, tokens: number, rate: number): Lasting
  /**
   * Reads {@link WindowRule.text}.
   *
   * @returns the counter's `lengthMs`; `undefined` for text of another kind
   */
  lengthOf(rest: string): number | undefined
}

/** What a window's counter is recognised by, beside kind, label and unit. */
export interface WindowRule {
  /** See `CellDefinition.lengthMs`. */
  readonly lengthMs: number
  /** What stands behind kind and label in the identity. */
  readonly text: string
}

/** What every window of a policy may say. */
export interface NamedWindow {
  readonly label: string
  readonly unit?: string | undefined
}

/** How policies write the windows of a kind. */
export interface WindowForm {
  /** Whether a value that may be no window is meant as one of the kind. */
  isUsed(window: unknown): boolean
  /** Checks one, with the same texts wherever it is defined. */
  check(named: Checks<NamedWindow>, window: unknown): Check<NamedWindow>
}

/** How long a limit's count lasts, and when it ends. */
export interface Lasting {
  /** In milliseconds; `null`: no time ends it. */
  readonly lengthMs: number | null
  /** Epoch milliseconds; `undefined`: it is not open, or no time ends it. */
  readonly endsAt: number | undefined
}

/** An {@link Kind.after} that any start is later than: no time ends the cell. */
export const ALWAYS_OPEN: number = Number.NEGATIVE_INFINITY

/** Reads a length in milliseconds; `undefined` for what no counter has written. */
export function parsedLength(text: string): number | undefined {
  const lengthMs = Number(text)
  return Number.isSafeInteger(lengthMs) && lengthMs > 0 && String(lengthMs) === text ? lengthMs : undefined
}

/** Numbers of a request that say where one calendar window stands: start of a period, its end, the end of the next. */
export const PERIOD_NUMBERS = 3

/** A period of the calendar, epoch milliseconds: `[start, end)`. */
export interface Period {
  readonly start: number
  readonly end: number
}

/** Which of the two periods that begin at `at` an instant is in; `undefined`: neither. */
export function periodAt(now: number, periods: readonly number[] | undefined, at: number): Period | undefined {
  const [start, end, next] = [periods?.[at], periods?.[at + 1], periods?.[at + 2]]
  if (start === undefined || end === undefined || next === undefined) return undefined
  if (now >= start && now < end) return { start, end }
  return now >= end && now < next ? { start: end, end: next } : undefined
}
