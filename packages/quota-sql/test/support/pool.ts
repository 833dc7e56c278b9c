import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'

/** A pool as the guide has it. */
export function poolOf(connectionString: string, options: pg.PoolConfig = {}): pg.Pool {
  const config = { connectionString, max: 2, pipeline: true, ...options }
  const pool = new pg.Pool(config)
  pool.on('error', () => undefined)
  // The owner of a connection learns of its end from the failed query; without a listener pg throws besides.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/** A Kysely that leaves its pool open when it ends. */
export function kyselyOnPool<Tables>(pool: pg.Pool): Kysely<Tables> {
  const lent = { connect: () => pool.connect(), end: async () => undefined }
  return new Kysely({ dialect: new PostgresDialect({ pool: lent }) })
}
