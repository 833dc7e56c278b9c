import type { Mode } from '../../api/documents.ts'
import { type Cell, pathOf } from '../../form/axes.ts'
import { type Fields, multiplierOf, tokensOf } from '../../form/form.ts'
import type { Formats } from '../../words/formats.ts'

export const MODES: readonly Mode[] = ['conservative', 'normal', 'lenient', 'adaptive', 'custom']

/** In hundredths. `adaptive` moves between conservative and lenient, so it isn't listed. */
const HUNDREDTHS = { conservative: 75, normal: 100, lenient: 150, custom: 100 } as const

/** A limit in a mode: a number of tokens, a range, or unknown. */
export type Effective =
  | { readonly kind: 'limit'; readonly tokens: number }
  | { readonly kind: 'range'; readonly least: number; readonly most: number; readonly now: number }
  | { readonly kind: 'off' }
  | { readonly kind: 'unknown' }

/**
 * The limit that the form's unsaved values lead to.
 *
 * @param factor the adaptive factor now
 */
export function effectiveLimit(fields: Fields, cell: Cell, mode: Mode, factor: number): Effective {
  // Shared layers have these two fields besides their tables.
  const enabled = fields[`${cell.layer}.enabled`]
  if (enabled !== undefined && enabled !== 'true') return { kind: 'off' }
  const base = tokensOf(fields[pathOf(mode === 'custom' ? 'custom' : 'base', cell)] ?? '')
  const multiplier = enabled === undefined ? 1 : multiplierOf(fields[`${cell.layer}.multiplier`] ?? '')
  if (base === undefined || multiplier === undefined) return { kind: 'unknown' }
  if (cell.isSlots) return { kind: 'limit', tokens: base }
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
  return limit.kind === 'range' ? `${number(limit.least)}–${number(limit.most)}` : '–'
}
