import type {
  AsyncCounters,
  AsyncHolds,
  ExtendRequest,
  GrowRequest,
  HoldReply,
  ListHoldsReply,
  ListHoldsRequest,
  ReadReply,
  ReadRequest,
  ResetRequest,
  SettleHoldReply,
  SettleHoldRequest,
  SettleRequest,
  StoreSchema,
  SweepReply,
  TakeReply,
  TakeRequest,
} from '@scoregw/quota/store'
import type { Work } from './operation.ts'
import type { Layouts } from './row-layout.ts'
import { Works } from './works.ts'

/** Counters of one policy in a database. */
export interface SqlCounters extends AsyncCounters {
  /**
   * @throws {QuotaError} `store_error` when the call was not answered in time, or nobody knows what became of it;
   *   `damaged_row` when a row or record that it needs cannot be read
   */
  take(request: TakeRequest): Promise<TakeReply>
  /** @throws {QuotaError} `store_error`, `damaged_row` */
  read(request: ReadRequest): Promise<ReadReply>
  /** @throws {QuotaError} `store_error`; the tokens may have been given back all the same. `damaged_row` */
  settle(request: SettleRequest): Promise<void>
  /** Mends rows that cannot be read. @throws {QuotaError} `store_error`; the windows may have been closed all the same */
  reset(request: ResetRequest): Promise<void>
  readonly holds: SqlHolds
}

/** Holds of one policy in a database. */
export interface SqlHolds extends AsyncHolds {
  /** @throws {QuotaError} `store_error`, `damaged_row` */
  extend(request: ExtendRequest): Promise<HoldReply>
  /** @throws {QuotaError} `store_error`; the tokens may have been charged all the same. `damaged_row` */
  grow(request: GrowRequest): Promise<HoldReply>
  /** @throws {QuotaError} `store_error`; it may have been settled all the same, and may be asked for again. `damaged_row` */
  settle(request: SettleHoldRequest): Promise<SettleHoldReply>
  /** @throws {QuotaError} `store_error`, `damaged_row` */
  list(request: ListHoldsRequest): Promise<ListHoldsReply>
  /** @throws {QuotaError} `store_error` */
  sweep(): Promise<SweepReply>
}

/** Carries out work in a transaction. */
export type Ask = <T>(work: Work<T>) => Promise<T>

/** The counters of a schema, over whatever carries out work. */
export function countersOf(
  schema: StoreSchema,
  layouts: Layouts,
  ask: Ask,
  sweep: () => Promise<SweepReply>,
): SqlCounters {
  const ignored = (): void => undefined
  const works = new Works(schema, layouts, {
    settle: (request) => void ask(works.settle(request)).catch(ignored),
    cancel: (request) => void ask(works.settleHold(request)).catch(ignored),
  })
  return {
    take: (request) => ask(works.take(request)),
    read: (request) => ask(works.read(request)),
    settle: (request) => ask(works.settle(request)),
    reset: (request) => ask(works.reset(request)),
    holds: {
      extend: (request) => ask(works.extend(request)),
      grow: (request) => ask(works.grow(request)),
      settle: (request) => ask(works.settleHold(request)),
      list: (request) => ask(works.list(request)),
      sweep,
    },
  }
}
