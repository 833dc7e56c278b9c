import { randomUUID } from 'node:crypto'
import type { Clock, Decision } from '@scoregw/quota'
import type { Request, Response } from 'express'
import { contextOf } from '../http/request-context.ts'
import type { OperationName } from '../quota/policy.ts'
import type { RefusingLimit } from './usage-record.ts'
import type { UsageRecorder } from './usage-recorder.ts'

/** Is told of a request that is about to be metered. */
export type ObserveMetered = (req: Request, res: Response, operation: OperationName, category: string) => void

/** The status of a request whose caller went away before there was one. */
const HUNG_UP = 499

/** Writes down each metered request when it is answered. */
export function observeMetered(recorder: UsageRecorder, clock: Clock): ObserveMetered {
  return (req, res, operation, category) => {
    res.once('close', () => {
      const { user, errorCode } = contextOf(req)
      if (user === undefined) return
      // None where the quota could not be asked.
      const { quota } = req
      const decision = quota?.decision
      recorder.record({
        id: randomUUID(),
        userId: user.id,
        at: decision?.now ?? clock.now(),
        operation,
        category,
        cost: decision?.cost ?? null,
        status: res.headersSent ? res.statusCode : HUNG_UP,
        error: errorCode ?? (decision?.allowed === false ? 'quota_exceeded' : null),
        settingsVersion: decision?.settingsVersion ?? null,
        refusal: refusalOf(decision),
        charged: () => quota?.charged ?? 0,
        isOver: () => res.writableEnded,
      })
    })
  }
}

function refusalOf(decision: Decision | undefined): RefusingLimit | null {
  if (decision === undefined || decision.allowed) return null
  const { layer, scope, window, kind, limit, used, requested, resetAt } = decision.binding
  return { layer, scope, window, kind, limit, used, requested, resetAt }
}
