import type { FactorReason, FactorReasonCode } from '@scoregw/quota/adaptive'

/** What a tick did, in a few sentences for administrators. */
export function explain(reason: FactorReason): string {
  return [verdictOf(reason), wallOf(reason), countsOf(reason)].filter((each) => each !== '').join(' ')
}

function verdictOf(reason: FactorReason): string {
  const verdict = VERDICTS[reason.code]
  // A newer process may have written it.
  return verdict === undefined ? `From ${from(reason)} to ${to(reason)}: ${reason.code}.` : verdict(reason)
}

type Verdict = (reason: FactorReason) => string

const VERDICTS: Readonly<Record<string, Verdict>> = {
  errors_high: (reason) => `Lowered from ${from(reason)} to ${to(reason)}: errors are surely above the high rate.`,
  returned: (reason) =>
    `Lowered from ${from(reason)} to ${to(reason)}: back to the factor before the rises that are to blame.`,
  probe: (reason) => `Raised from ${from(reason)} to ${to(reason)} for a few minutes, to test the level again.`,
  probe_over: (reason) => `Lowered from ${from(reason)} to ${to(reason)}: the test is over, its errors may still come.`,
  probe_failed: (reason) => `The test failed: ${to(reason)} is as much as the service carries.`,
  probe_passed: (reason) => `Raised from ${from(reason)} to ${to(reason)}: the test of this level passed.`,
  errors_low: (reason) => `Raised from ${from(reason)} to ${to(reason)}: errors are below the low rate.`,
  quiet_fall: (reason) => `Lowered from ${from(reason)} to ${to(reason)}, towards 1: too little traffic to judge by.`,
  quiet_rise: (reason) => `Raised from ${from(reason)} to ${to(reason)}, towards 1: too little traffic to judge by.`,
  steady: (reason) => `Stays at ${to(reason)}: the counts ask for no move.`,
  waiting: (reason) => `Stays at ${to(reason)}: the counts ask for a move, but the last one is too recent.`,
  capped: (reason) => `Stays at ${to(reason)}: errors are low, but higher levels had errors and are tested only later.`,
  probing: (reason) => `Stays at ${to(reason)} for a few minutes, to test this level.`,
  listening: (reason) => `Stays at ${to(reason)}: a higher level was tested, and its errors may still come.`,
  at_limit: (reason) => `Stays at ${to(reason)}: the counts ask for more, but this is the limit.`,
  quiet: (reason) => `Stays at ${to(reason)}: too little traffic to judge by.`,
} satisfies Readonly<Record<FactorReasonCode, Verdict>>

function wallOf({ wall }: FactorReason): string {
  if (wall === null || wall === undefined) return ''
  const { lowHundredths, highHundredths, retryAt } = wall
  const levels =
    lowHundredths === highHundredths ? factor(lowHundredths) : `${factor(lowHundredths)} to ${factor(highHundredths)}`
  return `Errors began at ${levels}; tested again at ${new Date(retryAt).toISOString().slice(0, 16)}Z at the earliest.`
}

function countsOf({ counts: { calls, errors, recentCalls, recentErrors }, bounds }: FactorReason): string {
  const range = `likely ${percent(bounds.low)} to ${percent(bounds.high)}`
  return `${errors} of ${calls} requests failed in the last 30 minutes (${range}), ${recentErrors} of ${recentCalls} in the last 5.`
}

const from = ({ fromHundredths }: FactorReason): string => factor(fromHundredths)
const to = ({ toHundredths }: FactorReason): string => factor(toHundredths)

function factor(hundredths: number): string {
  return (hundredths / 100).toFixed(2)
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(2)} %`
}
