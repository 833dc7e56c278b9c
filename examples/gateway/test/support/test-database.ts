import type { Clock } from '@scoregw/quota'
import type { Db } from '../../src/db/schema.ts'
import { openSqlite } from '../../src/db/sqlite.ts'
import { UserRepository } from '../../src/users/user-repository.ts'
import { tempDir } from './gateway.ts'
import { whenDone } from './shared.ts'

/** An empty database that goes with the test. */
interface TestDatabase {
  /**
   * Connects as one process would.
   *
   * Two connections of one test to an embedded database must not have transactions open together: the second would wait
   * for the lock on the only thread, on which the first would have to go on.
   */
  connect(): Promise<Db>
}

/** Makes one. */
export type OpenDatabase = () => Promise<TestDatabase>

/** An embedded database in a folder of its own. */
export const embeddedDatabase: OpenDatabase = async () => {
  const dataDir = tempDir()
  return { connect: () => closedInTheEnd(openSqlite(dataDir)) }
}

/** Closes a database when the test is over. */
export async function closedInTheEnd(opening: Promise<Db>): Promise<Db> {
  const db = await opening
  whenDone(() => db.destroy())
  return db
}

/** Players that rows can belong to. */
export async function createPlayers(db: Db, clock: Clock, ...ids: readonly string[]): Promise<void> {
  const users = new UserRepository(db, clock)
  for (const id of ids) await users.create({ id, name: `name of ${id}`, role: 'player' })
}
