/** The tokens that each subject may use per window. */
export interface TortureLimit {
  readonly limit: number
  readonly windowMs: number
}

/** All limits that an instance enforces. At least one. */
export type TortureLimits = readonly [TortureLimit, ...TortureLimit[]]

/** One request of a subject. */
export interface TortureRequest {
  readonly subject: string
  /** The cost in tokens. A limiter without costs accepts 1, and throws {@link NotOffered} otherwise. */
  readonly cost: number
}

/** A limiter's response. */
export interface TortureAnswer {
  readonly allowed: boolean
  /** After how many milliseconds the same request is admitted. Present for refusals, if the limiter reports it. */
  readonly retryAfterMs?: number | undefined
  /** Remaining tokens, if the limiter reports them. */
  readonly remaining?: number | undefined
}

/**
 * A limiter as the suite sees it. A function throws {@link NotOffered} for what the limiter has no means for.
 *
 * @typeParam Limiter one instance, as a process has it
 */
export interface TortureLimiter<Limiter> {
  /**
   * Makes an instance that enforces all limits. It has its own counters, or shares those of another instance, like a
   * process with a newer configuration.
   */
  make(limits: TortureLimits, over?: Limiter): Promise<Limiter>
  consume(limiter: Limiter, request: TortureRequest): Promise<TortureAnswer>
  /** Sends a request with an id. The suite repeats it. */
  retry(limiter: Limiter, request: TortureRequest, id: string): Promise<TortureAnswer>
  /**
   * Reserves tokens for work, then kills its process.
   *
   * @returns after how many milliseconds the tokens must be back
   */
  kill(limiter: Limiter, request: TortureRequest): Promise<number>
  /** Advances time for all instances. A negative number sets the wall clock back. */
  advance(ms: number): Promise<void>
}

/** Thrown by functions of a {@link TortureLimiter} for what the limiter can't do. */
export class NotOffered extends Error {
  override readonly name = 'NotOffered'
}
