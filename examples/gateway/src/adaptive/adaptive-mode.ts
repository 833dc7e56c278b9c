import type { Clock } from '@scoregw/quota'
import {
  adaptiveTicker,
  type FactorStore,
  type OutcomeRecorder,
  type OutcomeStore,
  outcomeRecorder,
} from '@scoregw/quota/adaptive'
import { sqlFactor, sqlOutcomes } from '@scoregw/quota-sql'
import type { Chore } from '../chores.ts'
import { COUNTERS, type Db } from '../db/schema.ts'
import type { GatewayQuota } from '../quota/policy.ts'
import { WATCHING } from '../quota/settings.ts'

const TICK_MS = 60_000

/** The stores of mode `adaptive`: outcomes of requests, and the factor that follows from them. */
export interface AdaptiveMode {
  readonly outcomes: OutcomeStore
  readonly recorder: OutcomeRecorder
  readonly factorStore: FactorStore
  /** Makes a chore that moves the factor of a quota with this {@link factorStore}. */
  choreFor(quota: GatewayQuota): Chore
  close(): Promise<void>
}

/**
 * Both stores are in the database. All processes that share it count together, and each minute moves the factor once.
 */
export function adaptiveMode(db: Db, clock: Clock): AdaptiveMode {
  const outcomes = sqlOutcomes({ db, prefix: COUNTERS })
  const recorder = outcomeRecorder({ store: outcomes, clock })
  const factorStore = sqlFactor({ db, ...WATCHING })
  return {
    outcomes,
    recorder,
    factorStore,
    choreFor({ settings }) {
      const ticker = adaptiveTicker({ outcomes, factorStore, settings, clock })
      return {
        what: 'moving the adaptive factor',
        everyMs: TICK_MS,
        async run() {
          await recorder.flush()
          await ticker.tick()
        },
      }
    },
    close: () => recorder.close(),
  }
}
