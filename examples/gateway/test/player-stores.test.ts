import { type PostgresServer, postgresTests, startPostgres } from '@scoregw/postgres-server'
import { manualClock } from '@scoregw/quota-testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgres } from '../src/db/postgres.ts'
import { CLAIM_MS, IdempotencyRecords } from '../src/idempotency/idempotency-records.ts'
import { START } from './support/gateway.ts'
import { describeIdempotencyRecords } from './support/idempotency-suite.ts'
import {
  describeGateRepository,
  describeItemRepository,
  describePlayerRepository,
  describeTicketRepository,
} from './support/player-suites.ts'
import { closedInTheEnd, createPlayers, embeddedDatabase, type OpenDatabase } from './support/test-database.ts'

function describeAll(name: string, open: OpenDatabase): void {
  describePlayerRepository(name, open)
  describeItemRepository(name, open)
  describeGateRepository(name, open)
  describeTicketRepository(name, open)
  describeIdempotencyRecords(name, open)
}

describeAll('the embedded database', embeddedDatabase)

describe.runIf(postgresTests)('player stores on PostgreSQL', () => {
  let postgres: PostgresServer | undefined

  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.stop())

  describeAll('PostgreSQL', async () => {
    const url = (await postgres?.createDatabase()) ?? ''
    return { connect: () => closedInTheEnd(openPostgres(url)) }
  })

  it('a reply stored while its expired claim is removed is kept', async () => {
    const url = (await postgres?.createDatabase()) ?? ''
    const db = await closedInTheEnd(openPostgres(url))
    const clock = manualClock(START)
    await createPlayers(db, clock, 'ann')
    const records = new IdempotencyRecords(db, clock)
    const request = { userId: 'ann', key: 'k', hash: 'h' }
    const known = await records.claim(request)
    if (known.state !== 'claimed') throw new Error(known.state)
    clock.advance(CLAIM_MS)
    let removing: Promise<void> | undefined
    await db.transaction().execute(async (transaction) => {
      expect(await records.keep(transaction, known.claimId, { body: 'b' })).toBe(true)
      removing = records.removeExpired()
      const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
      await expect.poll(() => postgres?.sql(waiting, url), { interval: 5 }).toHaveLength(1)
    })
    await removing
    expect(await records.claim(request)).toEqual({ state: 'answered', reply: { body: 'b' } })
  })
})
