import type { Logger } from '../log/logger.ts'

/** The message of an error; its stack would not help. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Logs when the counters stop answering and when they answer again, once each. */
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

  /**
   * Never rejects.
   * @returns whether they answer
   */
  async look(): Promise<boolean> {
    const error = await this.#check().then(
      () => undefined,
      (reason: unknown) => reason ?? new Error('unknown'),
    )
    const wasAway = this.#isAway
    this.#isAway = error !== undefined
    if (this.#isAway && !wasAway) {
      this.#logger.error(
        { reason: reasonOf(error) },
        `${this.#name} does not answer: requests are decided by QUOTA_FAILURE_POLICY`,
      )
    } else if (wasAway && !this.#isAway) {
      this.#logger.info(`${this.#name} answers again`)
    }
    return !this.#isAway
  }
}
