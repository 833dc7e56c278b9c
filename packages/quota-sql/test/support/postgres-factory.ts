import type { Clock } from '@scoregw/quota'
import { manualClock, type RowName, type StoreFactory } from '@scoregw/quota-testkit'
import type pg from 'pg'
import { type PostgresStore, postgresStore } from '../../src/index.ts'
import { rowRef } from '../../src/step/requested.ts'
import type { TestDatabase } from './database.ts'

/** New stores for the testkit: each time two, as of two processes, on emptied tables. */
export function postgresFactory(database: TestDatabase): StoreFactory {
  let made: { readonly pools: readonly [pg.Pool, pg.Pool]; readonly admin: pg.Pool } | undefined
  return async () => {
    made ??= { pools: [database.pool(), database.pool()], admin: database.pool() }
    const { pools, admin } = made
    const clock = manualClock()
    await admin.query('delete from quota_rows; delete from quota_ids; delete from quota_settings')
    const open = (pool: pg.Pool, testClock: Clock): PostgresStore =>
      postgresStore({ pool, testClock, deadlineMs: 10_000 })
    const [store, peer] = [open(pools[0], clock), open(pools[1], clock)]
    await Promise.all([store.ready(), peer.ready()])
    return {
      store,
      peer,
      capabilities: ['ids', 'clock-steps', 'revisions', 'damage', 'expiry', 'regroup'],
      clock,
      advance: clock.advance,
      stepClock: clock.advance,
      async storeRevision(revision) {
        await admin.query('delete from quota_settings')
        if (revision === '') return
        await admin.query(`insert into quota_settings values ('', '', 1, $1, '{}')`, [revision])
      },
      async damage(row, change) {
        const { rows } = await admin.query('select s1 from quota_rows where key = $1', [keyOf(row)])
        const text = Buffer.from(change(Buffer.from(JSON.stringify([Number(rows[0].s1)])))).toString('latin1')
        // What a column of numbers cannot hold is a number that is missing.
        const start = /^\[\d+\]$/.test(text) ? text.slice(1, -1) : null
        await admin.query('update quota_rows set s1 = $2 where key = $1', [keyOf(row), start])
      },
      async keptForMs(row) {
        const { rows } = await admin.query('select ends_at from quota_rows where key = $1', [keyOf(row)])
        if (rows.length === 0) return 0
        return rows[0].ends_at === null ? Number.POSITIVE_INFINITY : Math.max(0, Number(rows[0].ends_at) - clock.now())
      },
      async stop() {
        await Promise.all([store.close(), peer.close()])
      },
    }
  }
}

function keyOf(row: RowName): string {
  return rowRef(row).key
}
