import type {
  AsyncHolds,
  ExtendRequest,
  GrowRequest,
  HoldReply,
  ListHoldsReply,
  ListHoldsRequest,
  SettleHoldReply,
  SettleHoldRequest,
  SweepReply,
} from '@scoregw/quota/store'

/** Holds of one policy in Redis. */
export interface RedisHolds extends AsyncHolds {
  /** @throws {QuotaError} `store_error`, `damaged_row` */
  extend(request: ExtendRequest): Promise<HoldReply>
  /** @throws {QuotaError} `store_error`, although the tokens may have been charged; `damaged_row` */
  grow(request: GrowRequest): Promise<HoldReply>
  /**
   * @throws {QuotaError} `store_error`, although the hold may have been settled; you can settle it again. `damaged_row`
   */
  settle(request: SettleHoldRequest): Promise<SettleHoldReply>
  /** @throws {QuotaError} `store_error`, `damaged_row` */
  list(request: ListHoldsRequest): Promise<ListHoldsReply>
  /** @throws {QuotaError} `store_error` */
  sweep(): Promise<SweepReply>
}
