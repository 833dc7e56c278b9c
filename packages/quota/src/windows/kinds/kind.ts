/** A kind of limit: when its counters are open, and how to read their names. Each file in this folder is a kind. */
export interface Kind {
  /** Whether time ends its counts. Slots end with their work, and resets don't free them. */
  readonly isWindow: boolean
  /**
   * A cell is open while `start > after`. Kinds differ in this number, and buckets also in their refill. It is the same
   * for all rows at an instant.
   *
   * @param now epoch milliseconds
   * @param period of a calendar window at `now`
   */
  after(lengthMs: number, now: number, period: Period | undefined): number
  /** Returns the start of a cell that opens now, unless an earlier opening was later. */
  opensAt(now: number, period: Period | undefined): number
  /**
   * Returns how long a count lasts, for callers.
   *
   * @param startedAt when it started, or `NOT_OPEN`
   * @param period of a calendar window
   * @param tokens of a bucket that must refill, counted from its start
   * @param rate of a bucket: how many tokens refill in its length
   */
  lasting(lengthMs: number, startedAt: number, period: () => Period, tokens: number, rate: number): Lasting
  /**
   * Parses {@link WindowRule.text}.
   *
   * @returns the counter's `lengthMs`; `undefined` for text of another kind
   */
  lengthOf(rest: string): number | undefined
}

/** Identifies a window's counter, together with kind, label and unit. */
export interface WindowRule {
  /** See `CellDefinition.lengthMs`. */
  readonly lengthMs: number
  /** The rest of the identity, after kind and label. */
  readonly text: string
}

/** How long a limit's count lasts, and when it ends. */
export interface Lasting {
  /** In milliseconds; `null`: time doesn't end it. */
  readonly lengthMs: number | null
  /** Epoch milliseconds; `undefined`: it isn't open, or time doesn't end it. */
  readonly endsAt: number | undefined
}

/** An {@link Kind.after} before any start, for cells that time doesn't end. */
export const ALWAYS_OPEN: number = Number.NEGATIVE_INFINITY

/** Parses a length in milliseconds; `undefined` for text that no counter writes. */
export function parsedLength(text: string): number | undefined {
  const lengthMs = Number(text)
  return Number.isSafeInteger(lengthMs) && lengthMs > 0 && String(lengthMs) === text ? lengthMs : undefined
}

/** How many numbers of a request describe a calendar window: a period's start, its end, and the end of the next. */
export const PERIOD_NUMBERS = 3

/** A calendar period, epoch milliseconds: `[start, end)`. */
export interface Period {
  readonly start: number
  readonly end: number
}

/** Returns which of the two periods at position `at` contains an instant; `undefined`: neither. */
export function periodAt(now: number, periods: readonly number[] | undefined, at: number): Period | undefined {
  const [start, end, next] = [periods?.[at], periods?.[at + 1], periods?.[at + 2]]
  if (start === undefined || end === undefined || next === undefined) return undefined
  if (now >= start && now < end) return { start, end }
  return now >= end && now < next ? { start: end, end: next } : undefined
}
