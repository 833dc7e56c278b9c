import {
  type PostgresOptions,
  type PostgresServer,
  type SharedPostgres,
  sharedPostgres,
  startPostgres,
} from '@scoregw/postgres-server'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { migrateQuota } from '../../src/index.ts'
import { poolOf } from './pool.ts'

/** A database that has the tables, for the tests of a `describe`: on a server of its own if that has options. */
export class TestDatabase {
  readonly #pools: pg.Pool[] = []
  #server: SharedPostgres | undefined
  #own: PostgresServer | undefined
  #url = ''

  constructor(own?: PostgresOptions) {
    beforeAll(async () => {
      this.#own = own && (await startPostgres(own))
      this.#server = this.#own ?? (await sharedPostgres())
      this.#url = await newDatabase(this.#server)
    })
    afterAll(async () => {
      await Promise.all(this.#pools.map((pool) => pool.end()))
      if (this.#own === undefined) await this.#server?.dropDatabase(this.#url)
      else await this.#own.stop()
    })
  }

  get server(): SharedPostgres {
    if (this.#server === undefined) throw new Error('the server is started before the first test')
    return this.#server
  }

  /** The server of its own, to kill and pause. */
  get own(): PostgresServer {
    if (this.#own === undefined) throw new Error('this database is on a shared server')
    return this.#own
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
async function newDatabase(server: SharedPostgres): Promise<string> {
  const url = await server.createDatabase()
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) }) })
  await migrateQuota(db, { dialect: 'postgres' })
  await db.destroy()
  return url
}
