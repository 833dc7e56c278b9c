import type { Clock } from '../time/clock.ts'
import type { HoldBook } from './hold-book.ts'
import type { IdRecords } from './id-records.ts'
import type { Tables } from './tables.ts'

/** What the counters of every schema on one store share. */
export interface MemoryShared {
  readonly clock: Clock
  readonly maxSubjects: number
  readonly maxIds: number
  readonly tables: Tables
  readonly ids: IdRecords
  readonly book: HoldBook
}
