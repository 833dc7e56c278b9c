import pg from 'pg'

/** A pool as the guide has it. */
export function poolOf(connectionString: string, options: pg.PoolConfig = {}): pg.Pool {
  const config = { connectionString, max: 2, pipeline: true, ...options }
  const pool = new pg.Pool(config)
  pool.on('error', () => undefined)
  return pool
}
