import type { LimitKind, RefusedDecision } from '@scoregw/quota'

/** The limit that refused a request. */
export interface RefusingLimit {
  /** The layer's name in the policy, and its name for people. */
  readonly layer: string
  readonly scope: string
  /** The limit's label, for example `1h`. */
  readonly window: string
  readonly kind: LimitKind
  /** The most that can be used: tokens, slots for concurrency, a bucket's burst. */
  readonly limit: number
  readonly used: number
  readonly requested: number
  /** Epoch milliseconds. */
  readonly resetAt: number
}

/** A user's metered request and its outcome. */
export interface UsageRecord {
  readonly id: string
  readonly userId: string
  /** When the decision was made, in epoch milliseconds of the store's clock. */
  readonly at: number
  readonly operation: string
  readonly category: string
  /** The tokens that it needed; `null`: no decision was made. */
  readonly cost: number | null
  /** The final charge in tokens. */
  readonly charged: number
  /** The HTTP status; 499: the client disconnected before the response. */
  readonly status: number
  /** The response's `error`; `null`: no error. */
  readonly error: string | null
  /** The version of the settings that decided; `null`: no decision was made. */
  readonly settingsVersion: number | null
  /** Present for refusals. */
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
