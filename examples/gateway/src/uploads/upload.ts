/** How long a session lasts after each call, in milliseconds. */
export const SESSION_MS = 10 * 60_000
/** The most open sessions per user. */
export const MOST_OPEN = 5
/** The most scores per session. */
export const MOST_SCORES = 2_000
/** Each price covers up to this many scores. */
const SCORES_A_PRICE = 20

/**
 * - `open`: scores may be added.
 * - `stored`: its scores are stored, and it is to be charged.
 * - `done`: it is charged.
 * - `expired`: its time was over, or its tokens were gone, before it was stored.
 */
type UploadState = 'open' | 'stored' | 'done' | 'expired'

/** A session that receives scores in parts and stores them together. */
export interface Upload {
  readonly id: string
  readonly userId: string
  readonly state: UploadState
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** How many scores the client will send; `null`: the client says when it has sent all. */
  readonly expected: number | null
  /** How many scores of different charts were received. */
  readonly received: number
  /** The price of each 20 scores or part of it, at the time of the first score; `null`: no score was received. */
  readonly price: number | null
  /** The tokens to charge for the scores received. */
  readonly tokens: number
  /** The token of their hold, valid in any process; `null`: nothing is held. */
  readonly holdToken: string | null
  /** How many scores were stored; `null`: not stored. */
  readonly uploaded: number | null
  readonly skipped: number | null
  /** The final charge; `null`: not charged. */
  readonly charged: number | null
}

/** A session that this call has claimed. */
export interface ClaimedUpload extends Upload {
  readonly claimId: string
}

/** Whether all scores were received. */
export function isComplete({ expected, received }: Upload): boolean {
  return received > 0 && (expected === null || received === expected)
}

/** The tokens to charge for this many scores. */
export function tokensOf(price: number, scores: number): number {
  return price * Math.ceil(scores / SCORES_A_PRICE)
}
