import type { OutcomeRecorder } from '@scoregw/quota/adaptive'
import type { Request, RequestHandler, Response } from 'express'
import { contextOf } from '../http/request-context.ts'

/** Those who watch over processes ask every few seconds, and would hide how the work goes. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])

/** What a request counts as whose client went away before there was an answer: the client's fault. */
const HUNG_UP = 499

/** Counts how each request ends. One that could not be forwarded counts as status 0, whatever its client got. */
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
