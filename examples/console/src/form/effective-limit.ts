import { type Cell, type Mode, pathOf } from '../limits.ts'
import type { Formats } from '../words/formats.ts'
import { type Fields, multiplierOf, tokensOf } from './form.ts'

/** In hundredths. `adaptive` moves between conservative and lenient, so it isn't listed. */
const HUNDREDTHS = { conservative: 75, normal: 100, lenient: 150, custom: 100 } as const

/** A limit in a mode: a number of tokens, a range, or unknown. */
export type Effective =
  | { readonly kind: 'limit'; readonly tokens: number }
  | { readonly kind: 'range'; readonly least: number; readonly most: number; readonly now: number }
  | { readonly kind: 'off' }
  | { readonly kind: 'unknown' }

/**
 * The limit that a form of the settings leads to.
 *
 * @param factor the adaptive factor now
 */
export function effectiveLimit(fields: Fields, cell: Cell, mode: Mode, factor: number): Effective {
  const isSite = cell.layer === 'site'
  if (isSite && fields['site.enabled'] !== 'true') return { kind: 'off' }
  const base = tokensOf(fields[pathOf(mode === 'custom' ? 'custom' : 'base', cell)] ?? '')
  const multiplier = isSite ? multiplierOf(fields['site.multiplier'] ?? '') : 1
  if (base === undefined || multiplier === undefined) return { kind: 'unknown' }
  const scaled = (modeHundredths: number): number => scaledLimit(base, modeHundredths, Math.round(multiplier * 100))
  if (mode !== 'adaptive') return { kind: 'limit', tokens: scaled(HUNDREDTHS[mode]) }
  const [least, most] = [scaled(HUNDREDTHS.conservative), scaled(HUNDREDTHS.lenient)]
  return { kind: 'range', least, most, now: scaled(Math.round(factor * 100)) }
}

/** Exact integers, as in the engine. A base above 0 never becomes 0. */
function scaledLimit(base: number, modeHundredths: number, multiplierHundredths: number): number {
  if (base === 0) return 0
  return Math.max(1, Math.floor((base * modeHundredths * multiplierHundredths) / 10_000))
}

export function limitText(limit: Effective, { number }: Formats): string {
  if (limit.kind === 'limit') return number(limit.tokens)
  if (limit.kind !== 'range') return '–'
  const { least, most } = limit
  return least === most ? number(least) : `${number(least)}–${number(most)}`
}

/** Whether the limit refuses every request. */
export function isBlocking(limit: Effective): boolean {
  return (limit.kind === 'limit' && limit.tokens === 0) || (limit.kind === 'range' && limit.most === 0)
}
