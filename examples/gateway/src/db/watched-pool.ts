import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { DatabaseAwayError } from './database-away.ts'

/**
 * What the server answers when it could not do its work, whatever the statement: SQLSTATE classes 08 (connection), 53
 * (resources) and 57 (stopped, starting, or a time-out).
 */
const AWAY = /^(?:08|53|57)/

/**
 * A pool whose errors tell a database that is away ({@link DatabaseAwayError}) from a statement that is wrong. A
 * connection that broke or fell silent is not used again.
 */
export function watchedPool(pool: pg.Pool): PostgresPool {
  // A connection that breaks while idle: the next request gets another one, and an error if there is none.
  pool.on('error', () => undefined)
  // One that breaks while it is used, between two statements: the next statement reports it, and the process must live on.
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
  })
  return {
    async connect() {
      try {
        return watched(await pool.connect())
      } catch (error) {
        throw away(error)
      }
    },
    end: () => pool.end(),
  }
}

function watched(client: pg.PoolClient): PostgresPoolClient {
  let lost: DatabaseAwayError | undefined
  const query = async (text: string, parameters: readonly unknown[]) => {
    // A rollback would wait behind the statement that never was answered.
    if (lost !== undefined) throw lost
    try {
      return await client.query(text, [...parameters])
    } catch (error) {
      if (isFaultOfStatement(error)) throw error
      const reported = away(error)
      // An answer that is not fatal leaves the connection as it is.
      if (!(error instanceof pg.DatabaseError && error.severity === 'ERROR')) lost = reported
      throw reported
    }
  }
  // The other form, with a cursor, is of no use without the package for it.
  return { query: query as unknown as PostgresPoolClient['query'], release: () => client.release(lost) }
}

function isFaultOfStatement(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !AWAY.test(error.code ?? '')
  // One that cannot even be sent.
  return error instanceof TypeError || error instanceof RangeError
}

function away(cause: unknown): DatabaseAwayError {
  return new DatabaseAwayError('the database does not answer', { cause })
}
