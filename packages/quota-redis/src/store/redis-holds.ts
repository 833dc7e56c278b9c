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
import type { Shard } from './shard.ts'

/** Holds of one policy in Redis. */
export interface RedisHolds extends AsyncHolds {
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

/** The holds of a shard. */
export function holdsOf(shard: Shard): RedisHolds {
  return {
    extend: (request) => shard.extend(request),
    async grow(request) {
      const { hasGrown: _, isInDoubt: __, ...reply } = await shard.grow(request)
      return reply
    },
    settle: (request) => shard.settleHold(request),
    list: (request) => shard.list(request),
    async sweep() {
      const open = await shard.sweeper.sweep()
      return { ended: shard.sweeper.drain(), open }
    },
  }
}
