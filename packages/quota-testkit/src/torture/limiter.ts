/** So many tokens for each subject in a window. */
export interface TortureLimit {
  readonly limit: number
  readonly windowMs: number
}

/** All limits that an instance enforces, one or more. */
export type TortureLimits = readonly [TortureLimit, ...TortureLimit[]]

/** One request of a subject. */
export interface TortureRequest {
  readonly subject: string
  /** Tokens. A limiter without costs answers requests of one token, and throws {@link NotOffered} for others. */
  readonly cost: number
}

/** How a limiter answered a request. */
export interface TortureAnswer {
  readonly allowed: boolean
  /** Of a refusal: after how many milliseconds the same request is admitted, if the limiter says so. */
  readonly retryAfterMs?: number | undefined
  /** Tokens that the limiter reports as left, if it does. */
  readonly remaining?: number | undefined
}

/**
 * A limiter as the suite sees it. A function throws {@link NotOffered} for what the limiter has no means for.
 *
 * @typeParam Limiter one instance, as a process has it
 */
export interface TortureLimiter<Limiter> {
  /**
   * Makes an instance that enforces all of the limits: with counters of its own, or with those of another instance, as
   * a process with a newer configuration has them.
   */
  make(limits: TortureLimits, over?: Limiter): Promise<Limiter>
  consume(limiter: Limiter, request: TortureRequest): Promise<TortureAnswer>
  /** Sends a request under an id. The suite sends it several times. */
  retry(limiter: Limiter, request: TortureRequest, id: string): Promise<TortureAnswer>
  /**
   * Reserves tokens for work whose process is then killed.
   *
   * @returns after how many milliseconds they are to be back
   */
  kill(limiter: Limiter, request: TortureRequest): Promise<number>
  /** Lets time pass for all instances. A negative number sets the wall clock back. */
  advance(ms: number): Promise<void>
}

/** Thrown by functions of a {@link TortureLimiter}: the limiter has no means for this. */
export class NotOffered extends Error {
  override readonly name = 'NotOffered'
}
