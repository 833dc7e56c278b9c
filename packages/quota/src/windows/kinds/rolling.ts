import { type Checks, group, isObject, where, wholeNumber } from '../../options/checks.ts'
import { NOT_OPEN } from '../row.ts'
import { type Kind, type NamedWindow, parsedLength, type WindowForm, type WindowRule } from './kind.ts'

/** A window that opens with the first admitted request and ends `lengthMs` later. */
export interface RollingWindow {
  /** Name in settings, status, bodies and headers, for example `1h`: 1 to 32 of `A-Z a-z 0-9 _ -`. */
  readonly label: string
  /** Length in milliseconds, 1 second to 366 days. */
  readonly lengthMs: number
  readonly every?: undefined
  readonly burst?: undefined
}

/** The shortest rolling window, in milliseconds. */
const MIN_WINDOW_MS = 1_000
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

/** The form in policies: with `per`, or with `lengthMs` as in stored policies. */
export const rollingForm: WindowForm = {
  // The form of everything that isn't another kind.
  isUsed: () => true,
  check: (named, window) => group<NamedWindow>(lengthMembers(named, window)),
}

/** Checks for the members of a window with a length. */
export function lengthMembers({ label, unit }: Checks<NamedWindow>, window: unknown): Checks<NamedWindow> {
  const { lengthMs, per } = Object(window) as { readonly lengthMs?: unknown; readonly per?: unknown }
  const length =
    per === undefined && lengthMs !== undefined
      ? { lengthMs: wholeNumber(MIN_WINDOW_MS, MAX_WINDOW_MS, 'milliseconds') }
      : { per: where(isWindowLength, A_LENGTH) }
  return { label, ...length, unit }
}

/** Describes a valid length, for messages. */
export const A_LENGTH = 'a time like "30s", "15m", "12h" or "7d", or milliseconds, from 1 second to 366 days'

/** A length of time, 1 second to 366 days: `30s`, `15m`, `12h`, `7d`, or milliseconds. */
export type Duration = number | DurationText

/** A length of time as text. */
type DurationText = `${number}${'s' | 'm' | 'h' | 'd'}`

const UNITS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

/** Converts a length of time to milliseconds; `NaN` for anything else. */
export function millisecondsOf(duration: unknown): number {
  if (typeof duration === 'number') return duration
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(String(duration)) ?? []
  return Number(count) * UNITS[unit as keyof typeof UNITS]
}

/** Whether a value is a valid length of a rolling window. */
export function isWindowLength(duration: unknown): boolean {
  const lengthMs = millisecondsOf(duration)
  return Number.isSafeInteger(lengthMs) && lengthMs >= MIN_WINDOW_MS && lengthMs <= MAX_WINDOW_MS
}

/** Returns one label for all ways to write a length, because it identifies the counter. */
export function labelOf(lengthMs: number): string {
  const [unit, ofUnit] = Object.entries(UNITS).find(([, each]) => lengthMs % each === 0)!
  return `${lengthMs / ofUnit}${unit}`
}

/** Adds the length of windows that state it as `per` or only in their label. Leaves everything else unchanged. */
export function withLengths(windows: unknown): unknown {
  return Array.isArray(windows) ? windows.map(withLength) : windows
}

function withLength(window: unknown): unknown {
  if (!isObject(window) || Object.hasOwn(window, 'lengthMs') || Object.hasOwn(window, 'every')) return window
  const { per, ...rest } = window
  if (per !== undefined) return isWindowLength(per) ? { ...rest, lengthMs: millisecondsOf(per) } : window
  const isAlone = Object.keys(rest).every((key) => ['label', 'unit', 'burst'].includes(key))
  return isAlone && isWindowLength(rest.label) ? { ...rest, lengthMs: millisecondsOf(rest.label) } : window
}
