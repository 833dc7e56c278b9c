/** How long a session lasts after each call, in milliseconds. */
export const SESSION_MS = 10 * 60_000
/** Most sessions that a user may have open. */
export const MOST_OPEN = 5
/** Most scores of one. */
export const MOST_SCORES = 2_000
/** So many scores, or fewer, have the price of one upsert. */
const SCORES_A_PRICE = 20

/**
 * - `open`: scores may be added.
 * - `stored`: its scores are stored, and it is to be charged.
 * - `done`: it is charged.
 * - `expired`: its time was over, or its tokens were gone, before it was stored.
 */
type UploadState = 'open' | 'stored' | 'done' | 'expired'

/** A session in which scores come in parts, to be stored all at once. */
export interface Upload {
  readonly id: string
  readonly userId: string
  readonly state: UploadState
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** How many scores the client means to send; `null`: it says when that is all. */
  readonly expected: number | null
  /** How many have come, of different charts. */
  readonly received: number
  /** Tokens of each begun 20 scores, as they were when the first came; `null`: none has come. */
  readonly price: number | null
  /** Tokens that are to be charged for what has come. */
  readonly tokens: number
  /** Names the hold that has them, in any process; `null`: none has. */
  readonly holdToken: string | null
  /** What was stored, once it is. */
  readonly uploaded: number | null
  readonly skipped: number | null
  /** Tokens that it was charged, once it is. */
  readonly charged: number | null
}

/** A session that one call has to itself. */
export interface ClaimedUpload extends Upload {
  readonly claimId: string
}

/** Whether everything has come. */
export function isComplete({ expected, received }: Upload): boolean {
  return received > 0 && (expected === null || received === expected)
}

/** What so many scores are to be charged. */
export function tokensOf(price: number, scores: number): number {
  return price * Math.ceil(scores / SCORES_A_PRICE)
}
