import type { Clock } from '@scoregw/quota'
import {
  adaptiveLaw,
  adaptiveTicker,
  type FactorReason,
  type FactorReasonCode,
  type FactorStore,
  initialFactor,
  type OutcomeRecorder,
  type OutcomeStore,
  outcomeRecorder,
  readAdaptiveCounts,
} from '@scoregw/quota/adaptive'
import { MODES } from '@scoregw/quota/internal'
import { sqlFactor, sqlOutcomes } from '@scoregw/quota-sql'
import * as z from 'zod'
import type { Chore } from '../chores.ts'
import { COUNTERS, type Db } from '../db/schema.ts'
import { adminRoute, type Route } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import type { GatewayQuota } from '../quota/policy.ts'
import { WATCHING } from '../quota/settings.ts'

const MINUTE_MS = 60_000

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
        everyMs: MINUTE_MS,
        async run() {
          await recorder.flush()
          await ticker.tick()
        },
      }
    },
    close: () => recorder.close(),
  }
}

const REASONS = [
  'errors_high',
  'errors_low',
  'trial',
  'little_traffic',
  'in_vain',
  'steady',
] as const satisfies readonly FactorReasonCode[]

const factor = z.number().min(0.75).max(1.5)
const rate = z.number().min(0).max(1)
const count = z.int().min(0)

const failedSchema = z.object({
  level: z.number().describe('the lowest level at which errors began'),
  retryAt: isoInstant.describe('when it can be tried again'),
})

const reasonSchema = z.object({
  at: isoInstant,
  code: z.enum(REASONS),
  from: factor,
  to: factor,
  counts: z
    .object({ calls: count, errors: count, recentCalls: count, recentErrors: count })
    .describe('of the last 30 complete minutes, and of the last 5'),
  bounds: z.object({ low: rate, high: rate, recentLow: rate }).describe('Wilson bounds of the error rate'),
  failed: failedSchema.nullable().describe('no rise reaches this level, except for a trial; null: none has failed'),
})

const adaptiveDocument = z.object({
  mode: z.enum(MODES),
  isActive: z.boolean().describe("whether the mode is adaptive; otherwise the factor doesn't move or apply"),
  factor,
  version: z.int().describe('counts ticks; independent of the version of the settings'),
  lastTick: reasonSchema.nullable().describe('the last tick; null before the first'),
  preview: reasonSchema.describe('what a tick would do now'),
  history: z.array(reasonSchema).describe('the last moves, newest first'),
})

function shown(reason: FactorReason): z.input<typeof reasonSchema> {
  const { at, code, fromHundredths, toHundredths, counts, bounds, failed } = reason
  return {
    at: instantText(at),
    code,
    from: fromHundredths / 100,
    to: toHundredths / 100,
    counts,
    bounds,
    failed: failed && { level: failed.levelHundredths / 100, retryAt: instantText(failed.retryAt) },
  }
}

interface AdaptiveOptions extends Pick<AdaptiveMode, 'factorStore' | 'outcomes' | 'recorder'> {
  readonly quota: GatewayQuota
  readonly clock: Clock
}

/** Routes for the factor of mode `adaptive` and its reason. */
export function adaptiveRoutes({ quota, factorStore, outcomes, recorder, clock }: AdaptiveOptions): Route[] {
  return [
    adminRoute('GET /admin/quota/adaptive', {
      id: 'adaptiveFactor',
      summary: 'The factor of mode adaptive, and the reason for its value',
      description: 'It follows the server errors of the last 30 minutes, between 0.75 and 1.5.',
      answer: adaptiveDocument,
      async handle() {
        // Include the requests that this process has just counted.
        await recorder.flush()
        const [{ mode }, stored] = await Promise.all([quota.settings.get(), factorStore.read()])
        const minute = Math.floor(clock.now() / MINUTE_MS)
        const state = stored?.state ?? initialFactor()
        const { reason } = adaptiveLaw(state, await readAdaptiveCounts(outcomes, minute), minute * MINUTE_MS)
        if (reason === null) throw new Error('the law gave no reason')
        const body = {
          mode,
          isActive: mode === 'adaptive',
          factor: state.factorHundredths / 100,
          version: stored?.version ?? 0,
          lastTick: state.reason === null ? null : shown(state.reason),
          preview: shown(reason),
          history: state.history.map(shown),
        }
        return { body }
      },
    }),
  ]
}
