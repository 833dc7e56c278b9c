import type { Logger } from '../log/logger.ts'

/** Tells the log when the counters cease to answer and when they answer again, once each. */
export class StoreWatch {
  readonly #name: string
  readonly #check: () => Promise<void>
  readonly #logger: Logger
  #isAway = false

  /** @param name whose answer is looked for */
  constructor(name: string, check: () => Promise<void>, logger: Logger) {
    this.#name = name
    this.#check = check
    this.#logger = logger
  }

  /** Never rejects. */
  async look(): Promise<void> {
    const error = await this.#check().then(
      () => undefined,
      (reason: unknown) => reason ?? new Error('unknown'),
    )
    const wasAway = this.#isAway
    this.#isAway = error !== undefined
    if (this.#isAway && !wasAway) {
      this.#logger.error({ err: error }, `${this.#name} does not answer: requests are decided by QUOTA_FAILURE_POLICY`)
    } else if (wasAway && !this.#isAway) {
      this.#logger.info(`${this.#name} answers again`)
    }
  }
}
