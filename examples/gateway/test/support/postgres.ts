import { type PostgresServer, startPostgres } from '@scoregw/postgres-server'
import { whenDone } from './shared.ts'

/** A PostgreSQL server that ends with the test. */
export async function postgresServer(options?: Parameters<typeof startPostgres>[0]): Promise<PostgresServer> {
  const postgres = await startPostgres(options)
  whenDone(() => postgres.stop())
  return postgres
}
