import type { Check, Checks } from '../../options/checks.ts'

/** A kind of limit: when its counters are open, and how their names are read. Each file in this folder is one kind. */
export interface Kind {
  /** Whether time ends its counts. Slots end with the work that holds them, and a reset leaves them. */
  readonly isWindow: boolean
  /**
   * A cell is open while `start > after`. Kinds differ in this number, and buckets in what they refill. It is the same
   * for all rows at an instant.
   *
   * @param now epoch milliseconds
   * @param period for a calendar window: the one that `now` is in
   */
  after(lengthMs: number, now: number, period: Period | undefined): number
  /** The start of a cell that opens now, unless an earlier opening was later. */
  opensAt(now: number, period: Period | undefined): number
  /**
   * How long a count lasts, as callers see it.
   *
   * @param startedAt when it began, or `NOT_OPEN`
   * @param period for a calendar window: its period
   * @param tokens for a bucket: how many must refill, counted from its start
   * @param rate for a bucket: how many refill in its length
   */
  lasting(lengthMs: number, startedAt: number, period: () => Period, tokens: number, rate: number): Lasting
  /**
   * Reads {@link WindowRule.text}.
   *
   * @returns the counter's `lengthMs`; `undefined` for text of another kind
   */
  lengthOf(rest: string): number | undefined
}

/** What identifies a window's counter, in addition to kind, label and unit. */
export interface WindowRule {
  /** See `CellDefinition.lengthMs`. */
  readonly lengthMs: number
  /** The rest of the identity, after kind and label. */
  readonly text: string
}

/** Members of every window in a policy. */
export interface NamedWindow {
  readonly label: string
  readonly unit?: string | undefined
}

/** How policies write windows of a kind. */
export interface WindowForm {
  /** Whether a value, which may not be a window, is meant to be of this kind. */
  isUsed(window: unknown): boolean
  /** Checks a window, with the same messages wherever it is defined. */
  check(named: Checks<NamedWindow>, window: unknown): Check<NamedWindow>
}

/** How long a limit's count lasts, and when it ends. */
export interface Lasting {
  /** In milliseconds; `null`: time does not end it. */
  readonly lengthMs: number | null
  /** Epoch milliseconds; `undefined`: it isn't open, or time does not end it. */
  readonly endsAt: number | undefined
}

/** An {@link Kind.after} before any start: time does not end the cell. */
export const ALWAYS_OPEN: number = Number.NEGATIVE_INFINITY

/** Reads a length in milliseconds; `undefined` for text that no counter has written. */
export function parsedLength(text: string): number | undefined {
  const lengthMs = Number(text)
  return Number.isSafeInteger(lengthMs) && lengthMs > 0 && String(lengthMs) === text ? lengthMs : undefined
}

/** How many numbers of a request describe one calendar window: a period's start, its end, and the end of the next. */
export const PERIOD_NUMBERS = 3

/** A calendar period, epoch milliseconds: `[start, end)`. */
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
