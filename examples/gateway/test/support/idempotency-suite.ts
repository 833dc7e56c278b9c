import { type ManualClock, manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import type { Db } from '../../src/db/schema.ts'
import {
  CLAIM_MS,
  IdempotencyRecords,
  type KeyedRequest,
  REPLY_KEPT_MS,
} from '../../src/idempotency/idempotency-records.ts'
import { TicketRepository } from '../../src/tickets/ticket-repository.ts'
import { TicketService } from '../../src/tickets/ticket-service.ts'
import { START } from './gateway.ts'
import { createPlayers, type OpenDatabase } from './test-database.ts'

const REQUEST: KeyedRequest = { userId: 'ann', key: 'k', hash: 'h' }
const REPLY = { status: 200, body: { balance: 9, text: 'é"\\' } }

interface Process {
  readonly db: Db
  readonly records: IdempotencyRecords
  /** Keeps a reply in a transaction of its own. */
  keep(claimId: string): Promise<boolean>
}

function processOn(db: Db, clock: ManualClock): Process {
  const records = new IdempotencyRecords(db, clock)
  const keep = (claimId: string): Promise<boolean> =>
    db.transaction().execute((transaction) => records.keep(transaction, claimId, REPLY))
  return { db, records, keep }
}

async function claimOf({ records }: Process, request = REQUEST): Promise<string> {
  const known = await records.claim(request)
  if (known.state !== 'claimed') throw new Error(`expected a claim: ${known.state}`)
  return known.claimId
}

export function describeIdempotencyRecords(name: string, open: OpenDatabase): void {
  /** Two processes on one database, with a player in it. */
  async function two(): Promise<{ clock: ManualClock; one: Process; other: Process }> {
    const clock = manualClock(START)
    const database = await open()
    const one = processOn(await database.connect(), clock)
    await createPlayers(one.db, clock, 'ann', 'bob')
    return { clock, one, other: processOn(await database.connect(), clock) }
  }

  describe(`requests under keys in ${name}`, () => {
    it('a request under a key is processed once and replayed in every process for 24 hours', async () => {
      const { clock, one, other } = await two()
      const claimId = await claimOf(one)
      expect(await other.records.claim(REQUEST)).toEqual({ state: 'in_flight' })
      expect(await other.records.claim({ ...REQUEST, hash: 'other' })).toEqual({ state: 'reused' })
      clock.advance(1_000)
      expect(await one.keep(claimId)).toBe(true)
      expect(await other.records.claim(REQUEST)).toEqual({ state: 'answered', reply: REPLY })
      expect(await one.records.claim({ ...REQUEST, hash: 'other' })).toEqual({ state: 'reused' })
      clock.advance(REPLY_KEPT_MS - 1)
      expect(await other.records.claim(REQUEST)).toEqual({ state: 'answered', reply: REPLY })
      clock.advance(1)
      await claimOf(other, { ...REQUEST, hash: 'other' })
    })

    it('each user has their own keys', async () => {
      const { one } = await two()
      await claimOf(one)
      await claimOf(one, { ...REQUEST, userId: 'bob', hash: 'other' })
      await claimOf(one, { ...REQUEST, key: 'K', hash: 'other' })
    })

    it('one of many concurrent requests claims the key', async () => {
      const { one, other } = await two()
      const asked = Array.from({ length: 20 }, (_each, index) => (index % 2 === 0 ? one : other).records.claim(REQUEST))
      const states = (await Promise.all(asked)).map(({ state }) => state).sort()
      expect(states).toEqual(['claimed', ...Array(19).fill('in_flight')])
    })

    it('a key can be claimed again after a failure, but not after a stored reply', async () => {
      const { one, other } = await two()
      const failed = await claimOf(one)
      await one.records.release(failed)
      const claimId = await claimOf(other)
      await one.records.release(failed)
      expect(await one.records.claim(REQUEST)).toEqual({ state: 'in_flight' })
      await other.keep(claimId)
      await other.records.release(claimId)
      expect(await one.records.claim(REQUEST)).toEqual({ state: 'answered', reply: REPLY })
    })

    it('a key is free again some time after its process died', async () => {
      const { clock, one, other } = await two()
      await claimOf(one)
      clock.advance(CLAIM_MS - 1)
      expect(await other.records.claim(REQUEST)).toEqual({ state: 'in_flight' })
      clock.advance(1)
      await claimOf(other)
    })

    it('a claim that another caller took over undoes its whole transaction', async () => {
      const { clock, one, other } = await two()
      const late = await claimOf(one)
      clock.advance(CLAIM_MS)
      const taken = await claimOf(other)
      const tickets = ({ db }: Process): TicketService => new TicketService(new TicketRepository(db, clock))
      const buy = (by: Process, claimId: string): Promise<number> =>
        tickets(by).buy('ann', 2, async (transaction) => {
          if (!(await by.records.keep(transaction, claimId, REPLY))) throw new Error('lost')
        })
      await expect(buy(one, late)).rejects.toThrow('lost')
      expect(await buy(other, taken)).toBe(9)
      await expect(buy(one, late)).rejects.toThrow('lost')
      await expect(buy(other, taken)).rejects.toThrow('lost')
      expect(await tickets(one).held('ann')).toHaveLength(1)
    })

    it('an unchallenged claim may take longer than its time', async () => {
      const { clock, one, other } = await two()
      const claimId = await claimOf(one)
      clock.advance(CLAIM_MS + 1)
      expect(await one.keep(claimId)).toBe(true)
      expect(await other.records.claim(REQUEST)).toMatchObject({ state: 'answered' })
    })

    it('any number of expired keys are deleted', async () => {
      const { clock, one } = await two()
      const old = Array.from({ length: 1_001 }, (_each, index) => ({
        user_id: 'ann',
        key: `old ${index}`,
        request_hash: 'h',
        claim_id: `${index}`,
        reply: null,
        expires_at: START,
      }))
      for (let at = 0; at < old.length; at += 500) {
        await one.db
          .insertInto('idempotency_keys')
          .values(old.slice(at, at + 500))
          .execute()
      }
      await one.keep(await claimOf(one))
      await one.records.removeExpired()
      const left = await one.db.selectFrom('idempotency_keys').select('key').execute()
      expect(left).toEqual([{ key: 'k' }])
      clock.advance(REPLY_KEPT_MS)
      await one.records.removeExpired()
      expect(await one.db.selectFrom('idempotency_keys').select('key').execute()).toEqual([])
    })
  })
}
