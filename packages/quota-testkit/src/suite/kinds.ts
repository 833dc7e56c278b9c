import { type CellDefinition, cellsIn, windowCell } from '@scoregw/quota/internal'
import type { StoreCapability } from './harness.ts'
import { type Amount, DAY_MS, HOUR_MS, ONE_WINDOW, type ProbeOptions, TOKENS_ALONE, type TwoPeriods } from './probe.ts'
import type { Table } from './table.ts'

const MINUTE_MS = 60_000
const UNITS: readonly string[] = ['requests', 'tokens', 'money']

/** A kind of limit with room for ten, for scenes that are the same for every kind. */
export interface Kind {
  readonly name: string
  readonly needs: readonly ('calendar' | 'bucket' | StoreCapability)[]
  /** One layer of subjects with one cell of this kind. */
  readonly table: Table
  readonly cell: CellDefinition
  /** The cost in this kind's unit. */
  amount(tokens: number): Amount
  /** The terms of requests from this instant on. */
  terms(now: number): Pick<ProbeOptions, 'rates' | 'period'>
  /** When a limit that is used up at this instant opened, and when all of it is back. */
  opening(now: number): readonly [startedAt: number, endsAt: number]
}

function kind(
  name: string,
  cell: CellDefinition,
  more: Partial<Kind> & Pick<Kind, 'opening'>,
  units = TOKENS_ALONE,
): Kind {
  const table = { ...ONE_WINDOW, units, cells: cellsIn(units, [cell]) }
  const at = units.indexOf(cell.unit ?? 'tokens')
  const amount = (tokens: number): Amount =>
    units.length === 1 ? tokens : units.map((_, unit) => (unit === at ? tokens : 0))
  return { name, needs: [], table, cell, amount, terms: () => ({}), ...more }
}

function rolling(lengthMs: number): Pick<Kind, 'opening'> {
  return { opening: (now) => [now, now + lengthMs] }
}

/** Two periods around an instant: one started 10 minutes ago and ends in 20, the next lasts an hour. */
export function around(now: number): TwoPeriods {
  return [now - 10 * MINUTE_MS, now + 20 * MINUTE_MS, now + 80 * MINUTE_MS]
}

/** The kinds of windows. The longest is longer than any timer of JavaScript. */
export const KINDS: readonly Kind[] = [
  kind('a window of 1 hour', windowCell({ label: '1h', lengthMs: HOUR_MS }), rolling(HOUR_MS)),
  kind('a window of 366 days', windowCell({ label: '366d', lengthMs: 366 * DAY_MS }), rolling(366 * DAY_MS)),
  kind(
    'a window of the third of three units',
    windowCell({ label: '1s', lengthMs: 1_001 }, 'money'),
    rolling(1_001),
    UNITS,
  ),
  kind('a calendar window', windowCell({ label: 'month', every: 'month', timeZone: 'UTC' }), {
    needs: ['calendar'],
    terms: (now) => ({ period: around(now) }),
    opening: (now) => [around(now)[0], around(now)[1]],
  }),
  kind('a bucket', windowCell({ label: '1m', lengthMs: MINUTE_MS, burst: 10 }), {
    needs: ['bucket'],
    terms: () => ({ rates: [10] }),
    opening: (now) => [now, now + MINUTE_MS],
  }),
]
