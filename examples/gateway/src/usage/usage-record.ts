import type { LimitKind, RefusedDecision } from '@scoregw/quota'

/** The limit that refused a request. */
export interface RefusingLimit {
  /** The layer's name in the policy, and as people read it. */
  readonly layer: string
  readonly scope: string
  /** Label of the limit, for example `1h`. */
  readonly window: string
  readonly kind: LimitKind
  /** Tokens; of concurrency slots, of a bucket its burst: the most that can be used. */
  readonly limit: number
  readonly used: number
  readonly requested: number
  /** Epoch milliseconds. */
  readonly resetAt: number
}

/** One metered request of a user, as it ended. */
export interface UsageRecord {
  readonly id: string
  readonly userId: string
  /** When it was decided, epoch milliseconds by the clock of the counters. */
  readonly at: number
  readonly operation: string
  readonly category: string
  /** Tokens that it needed; `null` where nothing could be decided. */
  readonly cost: number | null
  /** Tokens that it was charged in the end. */
  readonly charged: number
  /** The HTTP status; 499 for a caller who went away before there was one. */
  readonly status: number
  /** The answer's `error`; `null`: it had none. */
  readonly error: string | null
  /** Version of the settings it was decided under; `null` where nothing could be decided. */
  readonly settingsVersion: number | null
  /** There for a refusal. */
  readonly refusal: RefusingLimit | null
}

/** Whether a request counts as failed. */
export function isFailure({ status }: Pick<UsageRecord, 'status'>): boolean {
  return status >= 400
}

/** The limit that a refusal reports. */
export function refusingLimit({ binding }: RefusedDecision): RefusingLimit {
  const { layer, scope, window, kind, limit, burst = limit, used, requested, resetAt } = binding
  return { layer, scope, window, kind, limit: burst, used, requested, resetAt }
}
