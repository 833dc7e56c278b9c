import type { Clock } from '@scoregw/quota'
import {
  type AdaptiveCounts,
  adaptiveLaw,
  type FactorReason,
  type FactorReasonCode,
  initialFactor,
  readAdaptiveCounts,
  type VersionedFactor,
} from '@scoregw/quota/adaptive'
import { MODES, type Mode } from '@scoregw/quota/internal'
import * as z from 'zod'
import { adminRoute, type Route } from '../http/route.ts'
import { isoInstant } from '../http/schemas.ts'
import type { GatewayQuota } from '../quota/policy.ts'
import type { AdaptiveMode } from './adaptive-mode.ts'

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
  msg: z.string().describe('the same in words'),
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

/** Returns the body for a stored factor, with the counts of a tick in the minute that starts at `now`. */
function adaptiveBody(
  mode: Mode,
  stored: VersionedFactor | undefined,
  counts: AdaptiveCounts,
  now: number,
): z.input<typeof adaptiveDocument> {
  const state = stored?.state ?? initialFactor()
  const { reason } = adaptiveLaw(state, counts, now)
  if (reason === null) throw new Error('the law gave no reason')
  return {
    mode,
    isActive: mode === 'adaptive',
    factor: state.factorHundredths / 100,
    version: stored?.version ?? 0,
    lastTick: state.reason === null ? null : shown(state.reason),
    preview: shown(reason),
    history: state.history.map(shown),
  }
}

function shown(reason: FactorReason): z.input<typeof reasonSchema> {
  const { at, code, fromHundredths, toHundredths, counts, bounds, failed } = reason
  return {
    at: new Date(at).toISOString(),
    code,
    msg: explain(reason),
    from: fromHundredths / 100,
    to: toHundredths / 100,
    counts,
    bounds,
    failed: failed && { level: failed.levelHundredths / 100, retryAt: new Date(failed.retryAt).toISOString() },
  }
}

/** Explains a tick to administrators, in a few sentences. */
function explain(reason: FactorReason): string {
  return [verdictOf(reason), failedOf(reason), countsOf(reason)].filter((each) => each !== '').join(' ')
}

const BECAUSE: Readonly<Record<FactorReasonCode, string>> = {
  errors_high: 'errors are clearly above the high rate',
  errors_low: 'errors are below the low rate',
  trial: 'a level that failed is tried for some minutes, and its errors may show later',
  little_traffic: 'there is too little traffic to judge',
  in_vain: 'lower limits have not helped against the errors',
  steady: 'the counts call for no move',
}

function verdictOf({ code, fromHundredths, toHundredths }: FactorReason): string {
  const to = factorText(toHundredths)
  if (fromHundredths === toHundredths) return `Stays at ${to}: ${BECAUSE[code]}.`
  const verb = fromHundredths < toHundredths ? 'Raised' : 'Lowered'
  return `${verb} from ${factorText(fromHundredths)} to ${to}: ${BECAUSE[code]}.`
}

function failedOf({ failed }: FactorReason): string {
  if (failed === null) return ''
  const at = new Date(failed.retryAt).toISOString().slice(0, 16)
  return `Errors began at ${factorText(failed.levelHundredths)}; tried again at ${at}Z at the earliest.`
}

function countsOf({ counts: { calls, errors, recentCalls, recentErrors }, bounds }: FactorReason): string {
  const range = `likely ${percent(bounds.low)} to ${percent(bounds.high)}`
  return `${errors} of ${calls} requests failed in the last 30 minutes (${range}), ${recentErrors} of ${recentCalls} in the last 5.`
}

function factorText(hundredths: number): string {
  return (hundredths / 100).toFixed(2)
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(2)} %`
}

const MINUTE_MS = 60_000

interface AdaptiveOptions extends Pick<AdaptiveMode, 'factorStore' | 'outcomes' | 'recorder'> {
  readonly quota: GatewayQuota
  readonly clock: Clock
}

/** Routes for the factor of mode `adaptive` and its reason. */
export function adaptiveRoutes(options: AdaptiveOptions): Route[] {
  return [
    adminRoute('GET /admin/quota/adaptive', {
      id: 'adaptiveFactor',
      summary: 'The factor of mode adaptive, and the reason for its value',
      description: 'It follows the server errors of the last 30 minutes, between 0.75 and 1.5.',
      answer: adaptiveDocument,
      async handle() {
        return { body: await factorNow(options) }
      },
    }),
  ]
}

/** Returns the factor, including the requests that this process has just counted. */
async function factorNow({
  quota,
  factorStore,
  outcomes,
  recorder,
  clock,
}: AdaptiveOptions): Promise<z.input<typeof adaptiveDocument>> {
  await recorder.flush()
  const [{ mode }, stored] = await Promise.all([quota.settings.get(), factorStore.read()])
  const minute = Math.floor(clock.now() / MINUTE_MS)
  return adaptiveBody(mode, stored, await readAdaptiveCounts(outcomes, minute), minute * MINUTE_MS)
}
