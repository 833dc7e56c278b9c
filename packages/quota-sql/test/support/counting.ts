import { cellsIn, windowCell } from '@scoregw/quota/internal'
import type { ReservationId, StoreSchema, TakeReply } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import type { SqlCounters } from '../../src/index.ts'

const HOUR_MS = 3_600_000

/** Two layers of one window. */
export const SCHEMA: StoreSchema = uniform(
  ['tokens'],
  cellsIn(['tokens'], [windowCell({ label: '1h', lengthMs: HOUR_MS })]),
  [
    { name: 'personal', shared: false },
    { name: 'site', shared: true },
  ],
)

/** One token, and no slot. */
export const ONE: readonly number[] = [1, 0]

/** Takes one token of a subject, under a limit that nobody reaches. */
export function take(counters: Pick<SqlCounters, 'take'>, subject: string, id?: ReservationId): PromiseLike<TakeReply> {
  const quotas = { layers: [0, 1], limits: [1e9, 1e9] }
  return counters.take({ subject, set: 0, quotas, costs: ONE, ...(id === undefined ? {} : { id }) })
}

export function idOf(id: string): ReservationId {
  return { id, nonce: `nonce of ${id}`, fingerprint: 'read 1', ttlMs: 600_000 }
}

/** What a subject and everybody used. */
export async function used(counters: Pick<SqlCounters, 'read'>, subject: string): Promise<readonly [number, number]> {
  const { states } = await counters.read({ subject, set: 0, layers: [0, 1] })
  return [states[1] ?? 0, states[3] ?? 0]
}
