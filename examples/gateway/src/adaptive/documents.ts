import type { Mode } from '@scoregw/quota'
import {
  type AdaptiveCounts,
  adaptiveLaw,
  type FactorReason,
  type FactorReasonCode,
  initialFactor,
  type VersionedFactor,
} from '@scoregw/quota/adaptive'
import { MODES } from '@scoregw/quota/store'
import * as z from 'zod'
import { isoInstant } from '../http/instant.ts'

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

export const wallSchema = z.object({
  low: z.number().describe('the lowest level at which errors may start'),
  high: z.number().describe('the level at which there were errors'),
  retryAt: isoInstant.describe('when `low` can be tested again'),
})

const reasonSchema = z.object({
  at: isoInstant,
  code: z.enum([...REASONS, 'other']).describe('`other`: unknown to this version of the gateway; `msg` names it'),
  msg: z.string().describe('the same in words'),
  from: factor,
  to: factor,
  counts: z
    .object({ calls: count, errors: count, recentCalls: count, recentErrors: count })
    .describe('of the last 30 complete minutes, and of the last 5'),
  bounds: z.object({ low: rate, high: rate, recentLow: rate }).describe('Wilson bounds of the error rate'),
  cap: z
    .number()
    .min(0.7)
    .max(1.5)
    .nullable()
    .describe('the highest level of a rise, except for a short test of the wall'),
  wall: wallSchema.nullable().describe('the levels at which errors started; null: unknown'),
  nextFallAt: isoInstant.nullable().describe('no counts can lower the factor before; null: it is at its lowest'),
  nextRiseAt: isoInstant.nullable().describe('no counts can raise the factor before; null: it is at its highest'),
})

export const adaptiveDocument = z.object({
  mode: z.enum(MODES),
  isActive: z.boolean().describe("whether the mode is adaptive; otherwise the factor doesn't move or apply"),
  factor,
  version: z.int().describe('counts ticks; independent of the version of the settings'),
  lastTick: reasonSchema.nullable().describe('the last tick; null before the first'),
  preview: reasonSchema.describe('what a tick would do now'),
  history: z.array(reasonSchema).describe('the last moves, newest first'),
})

/** Returns the body for a stored factor, with the counts of a tick in the minute that starts at `now`. */
export function adaptiveBody(
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
  const { at, code, fromHundredths, toHundredths, counts, bounds, capHundredths, wall, nextFallAt, nextRiseAt } = reason
  return {
    at: new Date(at).toISOString(),
    // A newer process may have written an unknown code.
    code: REASONS.find((known) => known === code) ?? 'other',
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

/** A wall as shown to administrators. */
export function shownWall(wall: NonNullable<FactorReason['wall']> | null): z.input<typeof wallSchema> | null {
  if (wall === null) return null
  const { lowHundredths, highHundredths, retryAt } = wall
  return { low: lowHundredths / 100, high: highHundredths / 100, retryAt: new Date(retryAt).toISOString() }
}

/** Explains a tick to administrators, in a few sentences. */
function explain(reason: FactorReason): string {
  return [verdictOf(reason), wallOf(reason), countsOf(reason)].filter((each) => each !== '').join(' ')
}

function verdictOf(reason: FactorReason): string {
  const verdict = VERDICTS[reason.code]
  // A newer process may have written an unknown code.
  return verdict === undefined ? `From ${from(reason)} to ${to(reason)}: ${reason.code}.` : verdict(reason)
}

type Verdict = (reason: FactorReason) => string

const VERDICTS: Readonly<Record<string, Verdict>> = {
  errors_high: (reason) => `Lowered from ${from(reason)} to ${to(reason)}: errors are clearly above the high rate.`,
  returned: (reason) =>
    `Lowered from ${from(reason)} to ${to(reason)}, the factor before the rises that caused errors.`,
  probe: (reason) => `Raised from ${from(reason)} to ${to(reason)} for a few minutes, to test this level again.`,
  probe_over: (reason) =>
    `Lowered from ${from(reason)} to ${to(reason)}: the test is over, but its errors may still arrive.`,
  probe_failed: (reason) => `The test failed: ${to(reason)} is the most that the service can take.`,
  probe_passed: (reason) => `Raised from ${from(reason)} to ${to(reason)}: this level passed its test.`,
  errors_low: (reason) => `Raised from ${from(reason)} to ${to(reason)}: errors are below the low rate.`,
  quiet_fall: (reason) =>
    `Lowered from ${from(reason)} to ${to(reason)}, towards 1: there is too little traffic to judge.`,
  quiet_rise: (reason) =>
    `Raised from ${from(reason)} to ${to(reason)}, towards 1: there is too little traffic to judge.`,
  steady: (reason) => `Stays at ${to(reason)}: the counts call for no move.`,
  waiting: (reason) => `Stays at ${to(reason)}: the counts call for a move, but the last one is too recent.`,
  capped: (reason) => `Stays at ${to(reason)}: errors are low, but higher levels had errors and are tested later.`,
  probing: (reason) => `Stays at ${to(reason)} for a few minutes, to test this level.`,
  listening: (reason) => `Stays at ${to(reason)}: a higher level was tested, and its errors may still arrive.`,
  at_limit: (reason) => `Stays at ${to(reason)}: the counts call for a move, but this is the bound.`,
  quiet: (reason) => `Stays at ${to(reason)}: there is too little traffic to judge.`,
} satisfies Readonly<Record<FactorReasonCode, Verdict>>

function wallOf({ wall }: FactorReason): string {
  if (wall === null || wall === undefined) return ''
  const { lowHundredths, highHundredths, retryAt } = wall
  const levels =
    lowHundredths === highHundredths
      ? factorText(lowHundredths)
      : `${factorText(lowHundredths)} to ${factorText(highHundredths)}`
  return `Errors began at ${levels}; tested again at ${new Date(retryAt).toISOString().slice(0, 16)}Z at the earliest.`
}

function countsOf({ counts: { calls, errors, recentCalls, recentErrors }, bounds }: FactorReason): string {
  const range = `likely ${percent(bounds.low)} to ${percent(bounds.high)}`
  return `${errors} of ${calls} requests failed in the last 30 minutes (${range}), ${recentErrors} of ${recentCalls} in the last 5.`
}

const from = ({ fromHundredths }: FactorReason): string => factorText(fromHundredths)
const to = ({ toHundredths }: FactorReason): string => factorText(toHundredths)

function factorText(hundredths: number): string {
  return (hundredths / 100).toFixed(2)
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(2)} %`
}
