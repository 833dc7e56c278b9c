import type { Chore } from '../chores.ts'
import type { Logger } from '../log/logger.ts'

/** How often to check the counters, for the log. */
const EVERY_MS = 1_000

/** Checks counters on another server. Logs when they become unavailable, and when they are back, once each. */
export class CountersWatch {
  /** The server, for people. */
  readonly name: string
  readonly chore: Chore = {
    what: 'checking whether the counters are available',
    everyMs: EVERY_MS,
    run: async () => void (await this.check()),
  }
  readonly #read: () => Promise<void>
  readonly #logger: Logger
  #isAway = false

  /** @param read rejects if the counters are unavailable */
  constructor(name: string, read: () => Promise<void>, logger: Logger) {
    this.name = name
    this.#read = read
    this.#logger = logger
  }

  /** Rejects if the counters are unavailable. */
  read(): Promise<void> {
    return this.#read()
  }

  /**
   * Checks the counters, and logs a change. Never rejects.
   *
   * @returns whether they are available
   */
  async check(): Promise<boolean> {
    const wasAway = this.#isAway
    try {
      await this.#read()
      this.#isAway = false
      if (wasAway) this.#logger.info(`${this.name} answers again`)
    } catch (error) {
      this.#isAway = true
      // Its stack would not help.
      const reason = error instanceof Error ? error.message : String(error)
      if (!wasAway) {
        this.#logger.error({ reason }, `${this.name} does not answer: requests are decided by QUOTA_FAILURE_POLICY`)
      }
    }
    return !this.#isAway
  }
}
