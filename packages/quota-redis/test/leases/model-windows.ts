import type { Window } from './model-parts.ts'

/** `used` of a window that is closed. */
export const CLOSED = -1

/** A rolling window of so many ticks, or periods of so many ticks, one behind the other. */
export interface WindowKind {
  readonly ticks?: number
  readonly period?: number
}

/** @param from where the period at hand begins */
export function isOpen(
  { start, used }: Window,
  kind: WindowKind,
  now: number,
  from: number = periodStart(kind, now),
): boolean {
  if (used === CLOSED) return false
  return kind.period === undefined ? now < start + kind.ticks! : start >= from
}

/** When a window that starts so ends. */
export function endOf({ ticks, period }: WindowKind, start: number): number {
  return period === undefined ? start + ticks! : (Math.floor(start / period) + 1) * period
}

function periodStart({ period }: WindowKind, now: number): number {
  return period === undefined ? now : Math.floor(now / period) * period
}

export function charge(window: Window, kind: WindowKind, now: number, tokens: number, from?: number): void {
  const began = from ?? periodStart(kind, now)
  if (!isOpen(window, kind, now, began)) {
    window.start = Math.max(kind.period === undefined ? now : began, window.start + 1)
    window.used = 0
  }
  window.used += tokens
}

/** To the very window alone. */
export function giveBack(window: Window, start: number, tokens: number): void {
  if (window.start === start && window.used !== CLOSED) window.used = Math.max(0, window.used - tokens)
}
