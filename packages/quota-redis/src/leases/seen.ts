import type { Moment } from './lease.ts'

/** The last reply of the shared layers. */
export interface Seen {
  readonly now: number
  readonly at: Moment
  /** `[startedAt, used]` for each window, all leases included. */
  readonly states: readonly number[]
  /** When each window ends, epoch milliseconds; `Infinity` if it is not open. */
  readonly ends: readonly number[]
}
