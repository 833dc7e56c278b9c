import type { AsyncCounters, AsyncHolds, StoreSchema, SweepReply, SyncCounters } from '@scoregw/quota/store'
import type { Work } from './operation.ts'
import type { Layouts } from './row-layout.ts'
import { Works } from './works.ts'

/**
 * Counters of one policy in a database. Calls reject with `store_error` if they were not answered in time, or their
 * outcome is unknown. Unless they only read or list, they may then have been carried out. They reject with
 * `damaged_row` if a row or record that they need cannot be read. A reset repairs rows.
 */
export interface SqlCounters extends AsyncCounters {
  readonly holds: AsyncHolds
}

/** Carries out work in a transaction. */
export type Perform = <T>(work: Work<T>) => Promise<T>
/** The same, answering synchronously. */
export type PerformNow = <T>(work: Work<T>) => T

/** The counters of a schema, which run their work with `perform`. */
export function countersOf(
  schema: StoreSchema,
  layouts: Layouts,
  perform: Perform,
  sweep: () => Promise<SweepReply>,
): SqlCounters
export function countersOf(
  schema: StoreSchema,
  layouts: Layouts,
  perform: PerformNow,
  sweep: () => SweepReply,
): SyncCounters
export function countersOf(
  schema: StoreSchema,
  layouts: Layouts,
  perform: <T>(work: Work<T>) => unknown,
  sweep: () => unknown,
): unknown {
  const works = new Works(schema, layouts, (work) => void Promise.resolve(perform(work)).catch(() => undefined))
  const counters: Record<keyof SyncCounters, unknown> = {
    take: (request: Parameters<Works['take']>[0]) => perform(works.take(request)),
    read: (request: Parameters<Works['read']>[0]) => perform(works.read(request)),
    settle: (request: Parameters<Works['settle']>[0]) => perform(works.settle(request)),
    reset: (request: Parameters<Works['reset']>[0]) => perform(works.reset(request)),
    holds: {
      extend: (request: Parameters<Works['extend']>[0]) => perform(works.extend(request)),
      grow: (request: Parameters<Works['grow']>[0]) => perform(works.grow(request)),
      settle: (request: Parameters<Works['settleHold']>[0]) => perform(works.settleHold(request)),
      list: (request: Parameters<Works['list']>[0]) => perform(works.list(request)),
      sweep,
    },
  }
  return counters
}
