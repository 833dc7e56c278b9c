import { createQuota, quotaMiddleware } from '@scoregw/quota-express'
import express, { type Express, type Request } from 'express'
import type Database from 'libsql'

/** A row of the table of tenants. `null`: the policy's number. */
interface Tenant {
  readonly id: string
  readonly perMinute: number | null
  readonly exportsPerDay: number | null
}

/** An API whose tenants have their limits in a table. */
export function createApp(database: Database.Database): Express {
  const byKey = database.prepare('select * from tenants where key = ?')
  const tenantOf = (req: Request) =>
    byKey.get(req.get('x-api-key') ?? '') as Tenant | undefined

  const quota = createQuota({
    limits: {
      perMinute: { by: 'tenant', limit: 60, per: '1m' },
      exports: { by: 'tenant', limit: 5, per: '1d', for: 'export' },
    },
    operations: { read: {}, export: {} },
  })
  const metered = quotaMiddleware({
    quota,
    subject: (req) => tenantOf(req)?.id,
    limits: (req) => {
      const tenant = tenantOf(req)
      return {
        perMinute: tenant?.perMinute,
        exports: tenant?.exportsPerDay,
      }
    },
  })

  const app = express()
  app.get(
    '/items',
    metered.operation('read'),
    (_req, res) => void res.json([]),
  )
  app.post(
    '/exports',
    metered.operation('export'),
    (_req, res) => void res.sendStatus(202),
  )
  return app
}
