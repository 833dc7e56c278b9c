import { type CellDefinition, windowCell } from '@scoregw/quota/internal'
import type { Need } from './harness.ts'
import { DAY_MS, HOUR, HOUR_MS, type Limits, MINUTE_MS, MONTH, RUNNING, USER } from './limits.ts'
import type { Amount, Terms, TwoPeriods } from './probe.ts'

/** A kind of limit with room for ten, for scenes that are the same for every kind. */
export interface Kind {
  readonly name: string
  readonly needs: readonly Need[]
  readonly cell: CellDefinition
  readonly units: readonly string[]
  /** One layer of subjects with one limit of this kind. */
  readonly limits: Limits
  /** The cost in this kind's unit. */
  amount(tokens: number): Amount
  /** The terms of requests from this instant on. */
  terms(now: number): Pick<Terms, 'rates' | 'period'>
  /** When a limit that is used up at this instant opened, and when all of it is back. */
  opening(now: number): readonly [startedAt: number, endsAt: number]
}

function kind(name: string, cell: CellDefinition, more: Partial<Kind> & Pick<Kind, 'opening'>): Kind {
  const { units = ['tokens'] } = more
  const amount = (tokens: number): Amount =>
    units.length === 1
      ? tokens
      : Object.fromEntries(units.map((unit): [string, number] => [unit, unit === cell.unit ? tokens : 0]))
  return {
    name,
    needs: [],
    cell,
    units,
    limits: { units, limits: { own: [USER, cell] } },
    amount,
    terms: () => ({}),
    ...more,
  }
}

function rolling(lengthMs: number): Pick<Kind, 'opening'> {
  return { opening: (now) => [now, now + lengthMs] }
}

/** Two periods around an instant: one started 10 minutes ago and ends in 20, the next lasts an hour. */
export function around(now: number): TwoPeriods {
  return [now - 10 * MINUTE_MS, now + 20 * MINUTE_MS, now + 80 * MINUTE_MS]
}

/** The kinds of windows. The longest is longer than any timer of JavaScript. */
export const WINDOWS: readonly Kind[] = [
  kind('a window of 1 hour', HOUR, rolling(HOUR_MS)),
  kind('a window of 366 days', windowCell({ label: '366d', lengthMs: 366 * DAY_MS }), rolling(366 * DAY_MS)),
  kind('a window of the third of three units', windowCell({ label: '1s', lengthMs: 1_001 }, 'money'), {
    ...rolling(1_001),
    units: ['requests', 'tokens', 'money'],
  }),
  kind('a calendar window', MONTH, {
    needs: ['calendar'],
    terms: (now) => ({ period: around(now) }),
    opening: (now) => [around(now)[0], around(now)[1]],
  }),
  kind('a bucket', windowCell({ label: '1m', lengthMs: MINUTE_MS, burst: 10 }), {
    needs: ['bucket'],
    terms: () => ({ rates: 10 }),
    opening: (now) => [now, now + MINUTE_MS],
  }),
]

/** Slots are taken one by one, and each comes back with its hold. */
export const SLOTS_KIND: Kind = kind('concurrency', RUNNING, {
  needs: ['holds', 'concurrency'],
  ...rolling(10 * HOUR_MS),
})
