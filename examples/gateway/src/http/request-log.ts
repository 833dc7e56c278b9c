import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from '../log/logger.ts'
import { contextOf } from './request-context.ts'

/** Logs each request when its answer is sent: never a header, a query or a body, since they may hold credentials. */
export function requestLog(logger: Logger): RequestHandler {
  return (req, res, next) => {
    const startedNs = process.hrtime.bigint()
    // The path as it came: a router takes parts of `req.path` away.
    const { path } = req
    res.once('close', () => {
      const durationMs = Math.round(Number(process.hrtime.bigint() - startedNs) / 1e3) / 1e3
      logger[levelOf(req, res)]({ ...factsOf(req, res), path, durationMs }, 'request')
    })
    next()
  }
}

function factsOf(req: Request, res: Response): Record<string, unknown> {
  const { statusCode: status, writableFinished } = res
  const { id: requestId, user, holder } = contextOf(req)
  return {
    requestId,
    method: req.method,
    status,
    ip: req.ip,
    ...(user === undefined ? {} : { userId: user.id }),
    ...(holder === undefined ? {} : { holderId: holder.id }),
    ...(writableFinished ? {} : { hungUp: true }),
  }
}

/** Health probes come every few seconds: they are logged at `debug` only. */
function levelOf({ path }: Request, { statusCode }: Response): 'debug' | 'info' {
  return (path === '/healthz' || path === '/readyz') && statusCode < 400 ? 'debug' : 'info'
}
