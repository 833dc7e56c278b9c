import type { Clock, Quota } from '@scoregw/quota'
import {
  adaptiveTicker,
  type FactorStore,
  type OutcomeRecorder,
  type OutcomeStore,
  outcomeRecorder,
} from '@scoregw/quota/adaptive'
import type { Chore } from '../chores.ts'
import type { Db } from '../db/schema.ts'
import { SETTINGS_POLL_MS } from '../quota/backend.ts'
import type { OperationName } from '../quota/policy.ts'
import { SqlOutcomes } from '../usage/sql-outcomes.ts'
import { SqlFactor } from './sql-factor.ts'

const TICK_MS = 60_000
const PRUNE_MS = 3_600_000

/** What mode `adaptive` lives by: how requests end, and the factor that follows from it. */
export interface AdaptiveMode {
  readonly outcomes: OutcomeStore
  readonly recorder: OutcomeRecorder
  readonly factorStore: FactorStore
  /** To be done again and again for a quota that was given {@link factorStore}. */
  choresFor(quota: Quota<OperationName>): readonly Chore[]
  close(): Promise<void>
}

/** Both are in the database: any number of processes that share it count together, and each minute moves the factor once. */
export function adaptiveMode(db: Db, clock: Clock): AdaptiveMode {
  const outcomes = new SqlOutcomes(db)
  const recorder = outcomeRecorder({ store: outcomes, clock })
  const factorStore = new SqlFactor(db)
  return {
    outcomes,
    recorder,
    factorStore,
    choresFor({ settings }) {
      const ticker = adaptiveTicker({ outcomes, factorStore, settings, clock })
      return [
        { what: 'looking for a moved factor', everyMs: SETTINGS_POLL_MS, run: () => factorStore.poll() },
        {
          what: 'moving the adaptive factor',
          everyMs: TICK_MS,
          async run() {
            await recorder.flush()
            await ticker.tick()
          },
        },
        {
          what: 'forgetting old outcomes',
          everyMs: PRUNE_MS,
          run: () => outcomes.prune(Math.floor(clock.now() / TICK_MS)),
        },
      ]
    },
    close: () => recorder.close(),
  }
}
