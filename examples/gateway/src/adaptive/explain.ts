import type { FactorReason, FactorReasonCode } from '@scoregw/quota/adaptive'

/** What a tick did, in a sentence or two for administrators. */
export function explain(reason: FactorReason): string {
  return `${VERDICTS[reason.code](reason)} ${countsOf(reason)}`
}

const VERDICTS: Readonly<Record<FactorReasonCode, (reason: FactorReason) => string>> = {
  errors_high: (reason) => `Lowered from ${from(reason)} to ${to(reason)}: errors are surely above the high rate.`,
  errors_low: (reason) => `Raised from ${from(reason)} to ${to(reason)}: errors are below the low rate.`,
  quiet_fall: (reason) => `Lowered from ${from(reason)} to ${to(reason)}, towards 1: too little traffic to judge by.`,
  quiet_rise: (reason) => `Raised from ${from(reason)} to ${to(reason)}, towards 1: too little traffic to judge by.`,
  steady: (reason) => `Stays at ${to(reason)}: the counts ask for no move.`,
  waiting: (reason) => `Stays at ${to(reason)}: the counts ask for a move, but the last one is too recent.`,
  capped: (reason) => {
    const cap = reason.capHundredths === null ? '' : ` of ${factor(reason.capHundredths)}`
    return `Stays at ${to(reason)}: errors are low, but the cap${cap} from an earlier fall is in the way.`
  },
  at_limit: (reason) => `Stays at ${to(reason)}: the counts ask for more, but this is the limit.`,
  quiet: (reason) => `Stays at ${to(reason)}: too little traffic to judge by.`,
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
