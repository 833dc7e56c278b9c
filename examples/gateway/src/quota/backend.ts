import type { Clock, QuotaStore, SettingsStore } from '@scoregw/quota'
import type { ListenPool } from '@scoregw/quota-sql'
import type { Chore } from '../chores.ts'
import type { Db } from '../db/schema.ts'
import type { Logger } from '../log/logger.ts'
import type { GatewayPolicy } from './policy.ts'

/** The options of all backends. */
export interface BackendOptions {
  readonly db: Db
  readonly clock: Clock
  readonly logger: Logger
  readonly policy: GatewayPolicy
  /** Announces changes of other processes; `undefined`: the database can't. */
  readonly changes: ListenPool | undefined
}

/** Where counters and settings are stored. */
export interface QuotaBackend {
  /** A name for people, without credentials. */
  readonly name: string
  readonly store: QuotaStore
  readonly settings: SettingsStore
  /**
   * Whether requests are charged in the transactions of their work. Only if no other caller waits for those
   * transactions.
   */
  readonly chargesWithin?: boolean | undefined
  readonly chores: readonly Chore[]
  /** Rejects if the counters are unavailable. Absent if they can't be. */
  readonly check?: (() => Promise<void>) | undefined
  /** The checked part, for people. Present with {@link check}. */
  readonly checked?: string | undefined
  /**
   * Call it after an engine was made with the backend.
   *
   * @throws {ConfigError} if the configuration isn't safe to use
   */
  begin(): Promise<void>
  /** Call it before the engine closes. */
  finish(): Promise<void>
  /** Call it after the engine has closed. */
  close?(): Promise<void>
}

/** The message of an error. Its stack would not help. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Logs when the counters become unavailable, and when they are back, once each. */
export class StoreWatch {
  readonly #name: string
  readonly #check: () => Promise<void>
  readonly #logger: Logger
  #isAway = false

  /** @param name of the checked part, for the log */
  constructor(name: string, check: () => Promise<void>, logger: Logger) {
    this.#name = name
    this.#check = check
    this.#logger = logger
  }

  /**
   * Checks the counters. Never rejects.
   *
   * @returns whether they are available
   */
  async check(): Promise<boolean> {
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
