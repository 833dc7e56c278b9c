import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, postgresTests, startPostgres } from '@scoregw/postgres-server'
import type { FactorStore, OutcomeStore } from '@scoregw/quota/adaptive'
import {
  describeFactorStore,
  describeOutcomeStore,
  FACTOR_STORE_CASES,
  OUTCOME_STORE_CASES,
  type PortFactory,
} from '@scoregw/quota-testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SqlFactor } from '../src/adaptive/sql-factor.ts'
import { openPostgres } from '../src/db/postgres.ts'
import type { Db } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { SqlOutcomes } from '../src/usage/sql-outcomes.ts'

/** Often enough to be heard of within a second; the gateway does it as a chore. */
const POLL_MS = 50

/** Two connections to one new database, and how to end both. */
type Opened = () => Promise<{ readonly dbs: readonly [Db, Db]; end(): Promise<void> }>

const embedded: Opened = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-ports-'))
  const dbs = [await openSqlite(folder), await openSqlite(folder)] as const
  return {
    dbs,
    async end() {
      await Promise.all(dbs.map((db) => db.destroy()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function factors(open: Opened): PortFactory<FactorStore> {
  return async () => {
    const { dbs, end } = await open()
    const [store, peer] = [new SqlFactor(dbs[0]), new SqlFactor(dbs[1])]
    let polling = Promise.resolve()
    const timer = setInterval(() => {
      polling = polling.then(() => store.poll()).then(() => peer.poll())
    }, POLL_MS)
    return {
      store,
      peer,
      async stop() {
        clearInterval(timer)
        await polling
        await end()
      },
    }
  }
}

function outcomes(open: Opened): PortFactory<OutcomeStore> {
  return async () => {
    const { dbs, end } = await open()
    return { store: new SqlOutcomes(dbs[0]), peer: new SqlOutcomes(dbs[1]), stop: end }
  }
}

function bothPorts(open: Opened): void {
  const registered = [
    describeFactorStore({ describe, it }, factors(open)),
    describeOutcomeStore({ describe, it }, outcomes(open)),
  ]
  it('runs every case', () => {
    expect(registered).toEqual([FACTOR_STORE_CASES.length, OUTCOME_STORE_CASES.length])
  })
}

describe('on the embedded database', () => bothPorts(embedded))

describe.runIf(postgresTests)('on PostgreSQL', () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  bothPorts(async () => {
    const url = await postgres.createDatabase()
    const dbs = [await openPostgres(url), await openPostgres(url)] as const
    return {
      dbs,
      async end() {
        await Promise.all(dbs.map((db) => db.destroy()))
      },
    }
  })
})
