import { randomUUID } from 'node:crypto'
import type { Clock, Decision } from '@scoregw/quota'
import { contextOf } from '../http/request-context.ts'
import type { ObserveMetered } from '../quota/metering.ts'
import { refusingLimit, type UsageRecord } from './usage-record.ts'
import type { UsageRecorder } from './usage-recorder.ts'

/** The status of a request whose caller went away before there was one. */
const HUNG_UP = 499

/** Writes down each metered request when it is answered. */
export function observeMetered(recorder: UsageRecorder, clock: Clock): ObserveMetered {
  return (req, res, operation, category) => {
    res.once('close', () => {
      const { user, errorCode } = contextOf(req)
      if (user === undefined) return
      // None where the quota was unavailable.
      const { quota } = req
      recorder.record({
        ...{ id: randomUUID(), userId: user.id, operation, category },
        at: quota?.decision.now ?? clock.now(),
        ...factsOf(quota?.decision),
        status: res.headersSent ? res.statusCode : HUNG_UP,
        error: errorCode ?? (quota?.decision.allowed === false ? 'quota_exceeded' : null),
        charged: () => quota?.charged ?? 0,
        isOver: () => res.writableEnded,
      })
    })
  }
}

function factsOf(decision: Decision | undefined): Pick<UsageRecord, 'cost' | 'settingsVersion' | 'refusal'> {
  if (decision === undefined) return { cost: null, settingsVersion: null, refusal: null }
  const { cost, settingsVersion } = decision
  return { cost, settingsVersion, refusal: decision.allowed ? null : refusingLimit(decision) }
}
