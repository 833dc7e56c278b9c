import { type PostgresOptions, type PostgresServer, startPostgres } from '@scoregw/postgres-server'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { migrateQuota } from '../../src/index.ts'
import { poolOf } from './pool.ts'

/** A server with a database that has the tables, for the tests of a `describe`. */
export class TestDatabase {
  readonly #pools: pg.Pool[] = []
  #server: PostgresServer | undefined
  #url = ''

  constructor(options: PostgresOptions = {}) {
    beforeAll(async () => {
      this.#server = await startPostgres(options)
      this.#url = await newDatabase(this.#server)
    })
    afterAll(async () => {
      await Promise.all(this.#pools.map((pool) => pool.end()))
      await this.#server?.stop()
    })
  }

  get server(): PostgresServer {
    if (this.#server === undefined) throw new Error('the server is started before the first test')
    return this.#server
  }

  get url(): string {
    return this.#url
  }

  /** A pool as the guide has it, which ends with the tests. */
  pool(options: pg.PoolConfig = {}): pg.Pool {
    const pool = poolOf(this.#url, options)
    this.#pools.push(pool)
    return pool
  }
}

/** Another database with the tables. */
async function newDatabase(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase()
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }) })
  await migrateQuota(db, { dialect: 'postgres' })
  await db.destroy()
  return url
}
