import { randomUUID } from 'node:crypto'
import type { Clock, Decision } from '@scoregw/quota'
import type { OutcomeRecorder } from '@scoregw/quota/adaptive'
import type { Request, RequestHandler, Response } from 'express'
import { contextOf } from '../http/request-context.ts'
import type { ObserveMetered } from '../quota/metered.ts'
import type { UsageRecorder } from './usage-recorder.ts'
import { refusingLimit, type UsageRecord } from './usage-records.ts'

/** The status of a request whose client disconnected before the response. */
const HUNG_UP = 499

/** Records each metered request when its response closes. */
export function observeMetered(recorder: UsageRecorder, clock: Clock): ObserveMetered {
  return (req, res, operation, category) => {
    res.once('close', () => {
      const { user, errorCode } = contextOf(req)
      if (user === undefined) return
      // Absent if the quota was unavailable.
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

/** Monitoring requests these every few seconds. They would hide real failures. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/**
 * Counts the outcome of each request. Requests that couldn't be forwarded count as status 0, whatever their clients
 * received.
 */
export function observeOutcomes(recorder: Pick<OutcomeRecorder, 'record'>): RequestHandler {
  return (req, res, next) => {
    if (PROBES.has(req.path)) return next()
    res.once('close', () => {
      const { errorCode, isBusinessFail: businessFail } = contextOf(req)
      const quotaUnavailable = errorCode === 'quota_unavailable'
      recorder.record({ httpStatus: httpStatusOf(req, res), businessFail, quotaUnavailable })
    })
    next()
  }
}

function httpStatusOf(req: Request, res: Response): number {
  if (contextOf(req).isForwardingFailed) return 0
  return res.headersSent ? res.statusCode : HUNG_UP
}
