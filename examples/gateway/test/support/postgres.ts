import { type PostgresServer, sharedPostgres, startPostgres } from '@scoregw/postgres-server'
import { whenDone } from './shared.ts'

/** A PostgreSQL server of the test's own, to kill, pause or look at, which ends with the test. */
export async function postgresServer(options?: Parameters<typeof startPostgres>[0]): Promise<PostgresServer> {
  const postgres = await startPostgres(options)
  whenDone(() => postgres.stop())
  return postgres
}

export interface TestDatabase {
  readonly url: string
  /** Runs SQL over a separate connection, and returns the rows of the last statement. */
  sql(text: string): Promise<Record<string, unknown>[]>
}

/** An empty database on the server that all tests share, which is dropped after the test. */
export async function testDatabase(): Promise<TestDatabase> {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  whenDone(() => server.dropDatabase(url))
  return { url, sql: (text) => server.sql(text, url) }
}
