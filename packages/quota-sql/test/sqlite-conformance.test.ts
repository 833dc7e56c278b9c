import { CONFORMANCE_CASES, describeStore } from '@scoregw/quota-testkit'
import { slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { hasNodeSqlite } from './support/sqlite.ts'
import { type SqliteKind, sqliteFactory } from './support/sqlite-factory.ts'

const NAMES: Readonly<Record<SqliteKind, string>> = {
  shared: 'SQLite store beside a Kysely',
  own: 'SQLite store on a connection of its own',
  sync: 'SQLite store that answers at once',
  transactions: 'SQLite store on a connection with transactions of its own',
  node: "SQLite store on Node's own SQLite",
}

const isDeep = process.env.QUOTA_TEST_DEEP === '1'
// They do the same in a transaction. CI tries the second way to begin one, the deep profile all of them.
const all: readonly SqliteKind[] = [
  'shared',
  ...(slowTests ? (['transactions'] as const) : []),
  ...(isDeep ? (['own', 'sync'] as const) : []),
]
const kinds: readonly SqliteKind[] = hasNodeSqlite ? [...all, 'node'] : all

for (const kind of kinds) {
  describe(NAMES[kind], () => {
    // The cases share their tables: one that went on beside the next would disturb it.
    const patient = (name: string, test: () => Promise<void>): void => it(name, test)
    const registered = describeStore({ describe, it: patient }, sqliteFactory(kind), 'the conformance suite')

    it('the SQLite store passes the conformance suite', () => expect(registered).toBe(CONFORMANCE_CASES.length))
  })
}
