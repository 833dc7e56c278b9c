import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manualClock, type RowName, type StoreFactory, type StoreHarness } from '@scoregw/quota-testkit'
import type Database from 'libsql'
import { afterAll } from 'vitest'
import { quotaSchemaSql, type SqliteConnection, sqliteStore, syncSqliteStore } from '../../src/index.ts'
import { rowRef } from '../../src/step/requested.ts'
import { connectByNode, connectTo, kyselyOn } from './sqlite.ts'

export type SqliteKind = 'own' | 'shared' | 'sync' | 'transactions' | 'node'

/**
 * New stores for the testkit, two connections to one file as of two processes: its own, or shared with a Kysely.
 * Call it in the `describe` of the tests, after which the file is removed.
 */
export function sqliteFactory(kind: SqliteKind): StoreFactory {
  const folder = mkdtempSync(join(tmpdir(), 'quota-sqlite-'))
  afterAll(() => {
    for (const database of made ?? []) database.close()
    rmSync(folder, { recursive: true })
  })
  // Only the members that both drivers have are used here.
  const connect = kind === 'node' ? (connectByNode as unknown as typeof connectTo) : connectTo
  let made: readonly Database.Database[] | undefined
  const connections = (): readonly Database.Database[] => {
    const path = join(folder, 'quota.sqlite')
    connect(path).exec(quotaSchemaSql({ dialect: 'sqlite' }))
    return [connect(path), connect(path), connect(path)]
  }
  return () => {
    made ??= connections()
    const [admin, ...databases] = made as [Database.Database, Database.Database, Database.Database]
    const clock = manualClock()
    admin.exec('delete from quota_rows; delete from quota_ids; delete from quota_settings')
    const open = (database: Database.Database) => {
      if (kind === 'transactions') return syncSqliteStore({ database: withTransactions(database), clock })
      if (kind === 'sync') return syncSqliteStore({ database, clock })
      return sqliteStore({ database, clock, ...(kind === 'shared' ? { db: kyselyOn(database) } : {}) })
    }
    const [store, peer] = databases.map(open) as [ReturnType<typeof open>, ReturnType<typeof open>]
    const capabilities: StoreHarness['capabilities'] = [
      'ids',
      'clock-steps',
      'revisions',
      'damage',
      'expiry',
      'regroup',
    ]
    return {
      store,
      peer,
      capabilities: store.sync ? [...capabilities, 'sync'] : capabilities,
      clock,
      advance: clock.advance,
      stepClock: clock.advance,
      storeRevision(revision) {
        admin.exec('delete from quota_settings')
        if (revision !== '') admin.prepare(`insert into quota_settings values ('', '', 1, ?, '{}')`).run(revision)
      },
      damage(row, change) {
        const [found] = admin.prepare('select cells from quota_rows where key = ?').all(keyOf(row)) as {
          cells: string
        }[]
        if (found === undefined) throw new Error('there is no such row')
        const text = Buffer.from(change(Buffer.from(found.cells))).toString('latin1')
        admin.prepare('update quota_rows set cells = ? where key = ?').run(text.replaceAll('\0', '\u0001'), keyOf(row))
      },
      keptForMs(row) {
        const [found] = admin.prepare('select ends_at from quota_rows where key = ?').all(keyOf(row)) as {
          ends_at: number | null
        }[]
        if (found === undefined) return 0
        return found.ends_at === null ? Number.POSITIVE_INFINITY : Math.max(0, found.ends_at - clock.now())
      },
      async stop() {
        await Promise.all([store.close?.(), peer.close?.()])
      },
    }
  }
}

/** As a Durable Object has it: transactions by a function, and no statement may begin one. */
function withTransactions(database: Database.Database): SqliteConnection {
  return {
    prepare: (text) => database.prepare(text),
    exec(text) {
      if (/begin|commit|rollback|savepoint/i.test(text)) throw new Error(`${text}: use transactionSync()`)
      database.exec(text)
    },
    transactionSync: (work) => database.transaction(work)() as ReturnType<typeof work>,
  }
}

function keyOf(row: RowName): string {
  return rowRef(row).key
}
