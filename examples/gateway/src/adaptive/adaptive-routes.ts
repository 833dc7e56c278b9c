import type { Clock, Quota } from '@scoregw/quota'
import {
  ADAPTIVE_DEFAULTS,
  adaptiveCounts,
  adaptiveLaw,
  type FactorReason,
  type FactorReasonCode,
  type FactorStore,
  initialFactor,
  type OutcomeRecorder,
  type OutcomeStore,
} from '@scoregw/quota/adaptive'
import { MODES } from '@scoregw/quota/store'
import * as z from 'zod'
import { isoInstant } from '../http/instant.ts'
import { type Route, route } from '../http/route.ts'
import type { OperationName } from '../quota/policy.ts'
import { explain } from './explain.ts'

const MINUTE_MS = 60_000

const REASONS = [
  'errors_high',
  'returned',
  'errors_low',
  'probe',
  'probe_over',
  'probe_failed',
  'probe_passed',
  'quiet_fall',
  'quiet_rise',
  'steady',
  'waiting',
  'capped',
  'probing',
  'listening',
  'at_limit',
  'quiet',
] as const satisfies readonly FactorReasonCode[]

const factor = z.number().min(0.75).max(1.5)
const rate = z.number().min(0).max(1)
const count = z.int().min(0)

const wallSchema = z.object({
  low: z.number().describe('the lowest level at which errors may begin'),
  high: z.number().describe('the level at which there were errors'),
  retryAt: isoInstant.describe('the level `low` is not tested before'),
})

const reasonSchema = z.object({
  at: isoInstant,
  code: z.enum(REASONS),
  msg: z.string().describe('the same in words'),
  from: factor,
  to: factor,
  counts: z
    .object({ calls: count, errors: count, recentCalls: count, recentErrors: count })
    .describe('of the last 30 closed minutes, and of the last 5 of them'),
  bounds: z.object({ low: rate, high: rate, recentLow: rate }).describe('Wilson bounds of the error rate'),
  cap: z.number().min(0.7).max(1.5).nullable().describe('what no rise goes above, except a short test of the wall'),
  wall: wallSchema.nullable().describe('the levels at which errors began; null: none is known'),
  nextFallAt: isoInstant.nullable().describe('before this instant no counts can lower the factor; null: it is lowest'),
  nextRiseAt: isoInstant.nullable().describe('before this instant no counts can raise the factor; null: it is highest'),
})

const answer = z.object({
  mode: z.enum(MODES),
  isActive: z.boolean().describe('whether the mode is adaptive: the factor moves and counts only then'),
  factor,
  version: z.int().describe('counts the ticks; apart from the version of the settings'),
  lastTick: reasonSchema.nullable().describe('what the last tick did; null before the first'),
  preview: reasonSchema.describe('what a tick would do now'),
  history: z.array(reasonSchema).describe('the last moves, newest first'),
})

export interface AdaptiveOptions {
  readonly quota: Quota<OperationName>
  readonly factorStore: FactorStore
  readonly outcomes: OutcomeStore
  readonly recorder: OutcomeRecorder
  readonly clock: Clock
}

/** The factor of mode `adaptive`: where it stands, and why. */
export function adaptiveRoutes({ quota, factorStore, outcomes, recorder, clock }: AdaptiveOptions): Route[] {
  return [
    route({
      method: 'get',
      path: '/admin/quota/adaptive',
      docs: {
        id: 'adaptiveFactor',
        tag: 'Administration',
        summary: 'The factor of mode adaptive, and the reason for its value',
        description: 'It follows the server internal errors of the last 30 minutes, between 0.75 and 1.5.',
      },
      access: 'admin',
      answer,
      async handle() {
        await recorder.flush()
        const [{ mode }, stored] = await Promise.all([quota.settings.get(), factorStore.read()])
        const state = stored?.state ?? initialFactor()
        const minute = Math.floor(clock.now() / MINUTE_MS)
        const { windowMinutes, recentMinutes } = ADAPTIVE_DEFAULTS
        const minutes = await outcomes.read(minute - windowMinutes, minute)
        const counts = adaptiveCounts(minutes, minute - recentMinutes)
        const { reason } = adaptiveLaw(state, counts, minute * MINUTE_MS)
        if (reason === null) throw new Error('the law gave no reason')
        return {
          body: {
            mode,
            isActive: mode === 'adaptive',
            factor: state.factorHundredths / 100,
            version: stored?.version ?? 0,
            lastTick: state.reason === null ? null : shown(state.reason),
            preview: shown(reason),
            history: state.history.map(shown),
          },
        }
      },
    }),
  ]
}

function shown(reason: FactorReason): z.input<typeof reasonSchema> {
  const { at, code, fromHundredths, toHundredths, counts, bounds, capHundredths, wall, nextFallAt, nextRiseAt } = reason
  return {
    at: new Date(at).toISOString(),
    code,
    msg: explain(reason),
    from: fromHundredths / 100,
    to: toHundredths / 100,
    counts,
    bounds,
    cap: capHundredths === null ? null : capHundredths / 100,
    wall: shownWall(wall ?? null),
    nextFallAt: nextFallAt === null ? null : new Date(nextFallAt).toISOString(),
    nextRiseAt: nextRiseAt === null ? null : new Date(nextRiseAt).toISOString(),
  }
}

function shownWall(wall: NonNullable<FactorReason['wall']> | null): z.input<typeof wallSchema> | null {
  if (wall === null) return null
  const { lowHundredths, highHundredths, retryAt } = wall
  return { low: lowHundredths / 100, high: highHundredths / 100, retryAt: new Date(retryAt).toISOString() }
}
