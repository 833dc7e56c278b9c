import { type Decision, type Quota, QuotaError } from '@scoregw/quota'
import { quotaExceededBody, quotaHeaders } from '@scoregw/quota/http'
import express, { type ErrorRequestHandler, type Express, type Request, type Response } from 'express'
import { operationOf } from './policy.ts'

/** How long a reservation lasts where the caller names no time, in milliseconds. */
const HOLD_MS = 60_000

/** Statuses of errors; others are the caller's mistake, 400. */
const STATUS: Readonly<Record<string, number>> = {
  quota_unavailable: 503,
  store_error: 503,
  reservation_expired: 410,
  id_conflict: 409,
  commit_above_reservation: 409,
}

/** Decisions for programs in other languages, and for proxies. It trusts its callers: keep it in a private network. */
export function decisionService(quota: Quota): Express {
  const app = express().disable('x-powered-by').disable('etag')
  app.use(express.json({ limit: '16kb' }))

  app.post('/v1/consume', async (req, res) => {
    const decision = await quota.consume(body(req))
    if (decision.allowed) fields(res, decision).json(decision)
    else refuse(res, decision)
  })

  app.post('/v1/reserve', async (req, res) => {
    const reservation = await quota.reserve({ ttlMs: HOLD_MS, ...body(req) })
    const { status, decision } = reservation
    if (reservation.allowed) fields(res, reservation.decision).json({ status, token: reservation.token, decision })
    else if (decision?.allowed === false) refuse(res, decision)
    // Under an id: it was used before.
    else res.status(409).json({ error: status })
  })

  app.post('/v1/commit', async (req, res) => {
    const { token, actual } = body<{ token: string; actual?: number }>(req)
    const hold = await quota.resume(token)
    res.json(await hold.commit(actual))
  })

  app.post('/v1/cancel', async (req, res) => {
    const hold = await quota.resume(body<{ token: string }>(req).token)
    await hold.cancel()
    res.status(204).end()
  })

  // nginx sends X-Original-Method, Caddy X-Forwarded-Method. nginx takes 2xx, 401 and 403 only, so it sends ?refuse=403.
  app.all('/forward', async (req, res) => {
    const method = req.get('x-original-method') ?? req.get('x-forwarded-method') ?? req.method
    const subject = req.get('x-user') ?? 'anonymous'
    const decision = await quota.consume({ subject, operation: operationOf(method) })
    if (decision.allowed) fields(res, decision).status(204).end()
    else refuse(res, decision, req.query.refuse === '403' ? 403 : 429)
  })

  return app.use(onError)
}

/** The body of a request; the engine checks its members. */
function body<T = Parameters<Quota['consume']>[0]>(req: Request): T {
  return (req.body ?? {}) as T
}

function fields(res: Response, decision: Decision): Response {
  return res.set({ ...quotaHeaders(decision, { standardHeaders: 'draft-11' }), 'cache-control': 'no-store' })
}

function refuse(res: Response, decision: Decision & { readonly allowed: false }, status = 429): void {
  fields(res, decision).status(status).json(quotaExceededBody(decision))
}

const onError: ErrorRequestHandler = (error, _req, res, _next) => {
  if (error instanceof QuotaError) {
    res.status(STATUS[error.code] ?? 400).json({ error: error.code, msg: error.message })
    return
  }
  const { status = 500 } = error as { readonly status?: number }
  if (status >= 500) console.error(error)
  res.status(status).json({ error: status < 500 ? 'invalid_body' : 'internal' })
}
