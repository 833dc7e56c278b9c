import * as v from 'valibot'
import type { Check } from '../../options/checks.ts'
import { expectedText } from '../../options/faults.ts'
import { NOT_OPEN } from '../row.ts'
import { type Kind, parsedLength, type WindowRule } from './kind.ts'

/** A window that opens with the first admitted request and ends `lengthMs` later. */
export interface RollingWindow {
  /** The limit's name, which identifies the counter. */
  readonly label: string
  /** Length in milliseconds, 1 to 366 days. */
  readonly lengthMs: number
  readonly every?: undefined
  readonly burst?: undefined
}

/** The shortest rolling window, in milliseconds. */
const MIN_WINDOW_MS = 1
/** The longest rolling window, in milliseconds. */
const MAX_WINDOW_MS = 366 * 86_400_000

export const rolling: Kind = {
  isWindow: true,
  after: (lengthMs, now) => now - lengthMs,
  opensAt: (now) => now,
  lasting: (lengthMs, startedAt) => ({ lengthMs, endsAt: startedAt === NOT_OPEN ? undefined : startedAt + lengthMs }),
  lengthOf: parsedLength,
}

/** @returns `undefined` for a window of another kind */
export function rollingRule({ lengthMs, burst }: Partial<RollingWindow>): WindowRule | undefined {
  return lengthMs === undefined || burst !== undefined ? undefined : { lengthMs, text: String(lengthMs) }
}

/** Describes a valid length, for messages. */
const A_LENGTH = 'a text like "250ms", "30s", "15m", "12h" or "30d", from 1 ms to 366 days'

/** The check of a window's length. */
export const LENGTH: { readonly per: Check<unknown> } = /* @__PURE__ */ {
  per: v.custom(isWindowLength, ({ input }) => `${expectedText(A_LENGTH, input)}${suggested(input)}`),
}

/** A length of time, 1 ms to 366 days: `250ms`, `30s`, `15m`, `12h`, `7d`. */
export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

/** Converts a length of time to milliseconds; `NaN` for anything else. */
export function millisecondsOf(duration: unknown): number {
  const [, count, unit] = (typeof duration === 'string' && /^(\d{1,12})(ms|[smhd])$/.exec(duration)) || []
  return Number(count) * UNITS[unit as keyof typeof UNITS]
}

/** Whether a value is a valid length of a rolling window. */
function isWindowLength(duration: unknown): boolean {
  return isLength(millisecondsOf(duration))
}

function isLength(lengthMs: number): boolean {
  return Number.isSafeInteger(lengthMs) && lengthMs >= MIN_WINDOW_MS && lengthMs <= MAX_WINDOW_MS
}

/** Suggests the right text for a number, or for a unit that is spelled differently, such as `15 minutes`. */
function suggested(given: unknown): string {
  const text = typeof given === 'string' || typeof given === 'number' ? String(given) : ''
  if (/^(1|one)?\s*mo(nths?)?$/i.test(text)) return '; for a month of the calendar, write every: "month"'
  const [, count, unit = ''] = /^\s*(\d{1,12}(?:\.\d+)?)\s*([a-z]*)\.?\s*$/i.exec(text) ?? []
  const ofUnit = unit === '' ? 1 : SPELLINGS.find(([spelling]) => spelling.test(unit))?.[1]
  const lengthMs = Number(count) * (ofUnit ?? Number.NaN)
  return isLength(lengthMs) ? `; write "${labelOf(lengthMs)}"` : ''
}

/** Units as people spell them, with their milliseconds. */
const SPELLINGS: readonly (readonly [RegExp, number])[] = [
  [/^(ms|msecs?|millis?|milliseconds?)$/i, 1],
  [/^(s|secs?|seconds?)$/i, 1_000],
  [/^(m|mins?|minutes?)$/i, 60_000],
  [/^(h|hrs?|hours?)$/i, 3_600_000],
  [/^(d|days?)$/i, 86_400_000],
  [/^(w|weeks?)$/i, 604_800_000],
]

/** Returns the shortest text of a length. */
function labelOf(lengthMs: number): string {
  const [unit, ofUnit] = Object.entries(UNITS).find(([, each]) => lengthMs % each === 0)!
  return `${lengthMs / ofUnit}${unit}`
}
