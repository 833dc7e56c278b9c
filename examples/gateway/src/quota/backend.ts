import type { Clock, QuotaStore, SettingsStore } from '@scoregw/quota'
import type { LeaseReport } from '@scoregw/quota-redis/leases'
import type { ListenPool } from '@scoregw/quota-sql'
import type { Chore } from '../chores.ts'
import type { Db } from '../db/schema.ts'
import type { Logger } from '../log/logger.ts'
import type { GatewayPolicy } from './policy.ts'

/** What every backend is made of. */
export interface BackendOptions {
  readonly db: Db
  readonly clock: Clock
  readonly logger: Logger
  readonly policy: GatewayPolicy
  /** Announces other processes' changes; `undefined`: the database announces none. */
  readonly changes: ListenPool | undefined
}

/** Where tokens are counted and settings come from. */
export interface QuotaBackend {
  /** For people; never a credential. */
  readonly name: string
  readonly store: QuotaStore
  readonly settings: SettingsStore
  /** Whether requests are charged within the transactions of their work: where no other caller waits for those. */
  readonly chargesWithin?: boolean | undefined
  readonly chores: readonly Chore[]
  /** What leases came to; absent where none are taken. */
  readonly leases?: (() => LeaseReport) | undefined
  /** Rejects when the counters do not answer; absent where they cannot fail. */
  readonly check?: (() => Promise<void>) | undefined
  /** The checked part, for people; there with {@link check}. */
  readonly checked?: string | undefined
  /**
   * To be called once an engine has been made of it.
   * @throws {ConfigError} when it must not be used as it is configured
   */
  begin(): Promise<void>
  /** To be called before the engine closes. */
  finish(): Promise<void>
  /** To be called after that. */
  close?(): Promise<void>
}

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
