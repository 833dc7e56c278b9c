import { createQuota, defaultPolicy, MAX_LIMIT } from '@scoregw/quota'
import { quotaMiddleware } from '@scoregw/quota-express'
import express, { type Express, type Request, type RequestHandler } from 'express'
import { rateLimit } from 'express-rate-limit'

/** The header that says who asks. */
export const USER_HEADER = 'x-user'

const WINDOWS_MS = [3_600_000, 18_000_000, 86_400_000]

/** The apps that are measured, the bare one first: each answers `POST /` with the same few bytes. */
export const APPS = {
  'bare Express': () => app(),
  'quota-express: six counters': () => app(metered()),
  'express-rate-limit: one limit': () => app(limited(3_600_000, userOf)),
  'express-rate-limit: six limits': () =>
    app(
      ...WINDOWS_MS.map((windowMs) => limited(windowMs, userOf)),
      ...WINDOWS_MS.map((windowMs) => limited(windowMs, () => 'all')),
    ),
} as const satisfies Readonly<Record<string, () => Express>>

export type AppName = keyof typeof APPS

function app(...middleware: RequestHandler[]): Express {
  return express().post('/', ...middleware, (_req, res) => {
    res.json({ ok: true })
  })
}

function userOf(req: Request): string {
  return req.get(USER_HEADER) ?? 'nobody'
}

function metered(): RequestHandler {
  const windows = { '1h': MAX_LIMIT, '5h': MAX_LIMIT, '1d': MAX_LIMIT }
  const layer = { read: windows, write: windows }
  const quota = createQuota({ policy: defaultPolicy({ base: { personal: layer, site: layer } }) })
  return quotaMiddleware({ quota, subject: userOf, standardHeaders: 'draft-10' }).operation('write')
}

function limited(windowMs: number, keyGenerator: (req: Request) => string): RequestHandler {
  return rateLimit({ windowMs, limit: 10 ** 9, keyGenerator, standardHeaders: 'draft-8', legacyHeaders: false })
}
