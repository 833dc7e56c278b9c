import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import { isDatabaseBusy, isDatabaseFull } from '../db/database-away.ts'
import type { Db } from '../db/schema.ts'

/** What there has to be room for, in bytes: less than any request with its log needs. */
const LEAST_ROOM = 262_144
const PROBE_BYTES = 65_536

/**
 * Whether the embedded database can grow: there is room on the disk, and the database takes a page more. The write that
 * probes this is rolled back.
 */
export function roomOnDisk(db: Db, dataDir: string): { readonly name: string; check(): Promise<void> } {
  return {
    name: 'the disk of the database, which is full',
    async check() {
      const { bavail, bsize } = await statfs(dataDir)
      if (bavail * bsize < LEAST_ROOM) throw new Error(`less than ${LEAST_ROOM} bytes are left in DATA_DIR`)
      try {
        await db.transaction().execute(async (transaction) => {
          await sql`create table room_on_disk (probe blob)`.execute(transaction)
          await sql`insert into room_on_disk values (zeroblob(${PROBE_BYTES}))`.execute(transaction)
          throw new RolledBack()
        })
      } catch (error) {
        // Who writes at the moment has room.
        if (error instanceof RolledBack || isDatabaseBusy(error)) return
        if (isDatabaseFull(error)) throw new Error('the database of DATA_DIR cannot grow', { cause: error })
        throw error
      }
    },
  }
}

class RolledBack extends Error {}
