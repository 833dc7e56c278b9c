import type { Moment } from './lease.ts'

/** What the shared layers last said. */
export interface Seen {
  readonly now: number
  readonly at: Moment
  /** `[startedAt, used]` for each window, all leases included. */
  readonly states: readonly number[]
  /** When each of them ends, epoch milliseconds; `Infinity` if it is not open. */
  readonly ends: readonly number[]
}
