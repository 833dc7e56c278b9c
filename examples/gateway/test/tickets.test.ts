import { join } from 'node:path'
import fc from 'fast-check'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { chargeAnswer, clearAnswer, heldAnswer, TICKET_CREDITS, TICKET_VALID_MS } from '../src/players/tickets.ts'
import {
  ADMIN_TOKEN,
  type Answer,
  databaseOf,
  HOUR_MS,
  START,
  type TestGateway,
  testGateway,
  usedOf,
} from './support/gateway.ts'

type Charge = 2 | 3 | 5

const charge = ({ send }: TestGateway, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  send('POST', '/v1/charge', { body, headers })

const isReplayed = ({ headers }: Answer): boolean => headers.get('Idempotency-Replayed') === 'true'

function balanceOf({ dataDir }: TestGateway, userId = 'demo'): number {
  const file = new Database(join(dataDir, 'gateway.sqlite'), { readonly: true })
  try {
    return (file.prepare('select balance from users where id = ?').get(userId) as { balance: number }).balance
  } finally {
    file.close()
  }
}

function setBalance({ dataDir }: TestGateway, balance: number): void {
  const file = new Database(join(dataDir, 'gateway.sqlite'))
  file.prepare("update users set balance = ? where id = 'demo'").run(balance)
  file.close()
}

describe('buying tickets', () => {
  it('a ticket costs tokens and credits by its kind', async () => {
    const gateway = await testGateway()
    const costs = [
      { charge: 2, tokensCharged: 10, balance: 9 },
      { charge: 3, tokensCharged: 15, balance: 7 },
      { charge: 5, tokensCharged: 25, balance: 4 },
    ]
    for (const expected of costs) {
      const { status, body } = await charge(gateway, { chargeId: expected.charge })
      expect(status).toBe(200)
      expect(chargeAnswer.parse(body)).toEqual(body)
      expect(body.businessData).toEqual(expected)
      expect(balanceOf(gateway)).toBe(expected.balance)
    }
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 50 })
  })

  it('a purchase may use `charge` in place of `chargeId`', async () => {
    const gateway = await testGateway()
    expect((await charge(gateway, { charge: 3 })).body.businessData).toMatchObject({ charge: 3, balance: 8 })
    expect((await charge(gateway, { charge: 2, chargeId: 2 })).body.businessData).toMatchObject({ charge: 2 })
  })

  it('a purchase of no kind or of two is rejected before a charge', async () => {
    const gateway = await testGateway()
    const before = databaseOf(gateway.dataDir)
    const cases: [object, string][] = [
      [{}, 'chargeId'],
      [{ chargeId: 4 }, 'chargeId'],
      [{ chargeId: '2' }, 'chargeId'],
      [{ chargeId: null, charge: 2 }, 'chargeId'],
      [{ charge: 1 }, 'charge'],
      [{ charge: 2, chargeId: 3 }, 'charge'],
    ]
    for (const [body, path] of cases) {
      const answer = await charge(gateway, body, { 'Idempotency-Key': 'a' })
      expect([answer.status, answer.body.error]).toEqual([422, 'validation_failed'])
      expect(answer.body.details.map((detail: { path: string }) => detail.path)).toEqual([path])
    }
    expect(databaseOf(gateway.dataDir)).toEqual(before)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
  })

  it('a purchase shows the price in force', async () => {
    const gateway = await testGateway()
    const { version: _, ...settings } = (await gateway.send('GET', '/admin/quota/settings', { token: ADMIN_TOKEN }))
      .body
    const body = { ...settings, prices: { 'charge.2': 7, 'charge.3': 0 } }
    const headers = { 'If-Match': '*' }
    await gateway.send('PUT', '/admin/quota/settings', { token: ADMIN_TOKEN, headers, body })
    expect((await charge(gateway, { chargeId: 2 })).body.businessData.tokensCharged).toBe(7)
    expect((await charge(gateway, { chargeId: 3 })).body.businessData.tokensCharged).toBe(0)
    expect((await charge(gateway, { chargeId: 5 })).body.businessData.tokensCharged).toBe(25)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 32 })
  })

  it('a purchase above the balance gets 403, changes nothing and returns the tokens', async () => {
    const gateway = await testGateway()
    setBalance(gateway, 2)
    const before = databaseOf(gateway.dataDir)
    const refused = await charge(gateway, { chargeId: 5 })
    expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_balance'])
    expect(refused.body.msg).toBe('A ticket of chargeId 5 costs 3 credits, and the balance is 2.')
    expect(databaseOf(gateway.dataDir)).toEqual(before)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
    expect((await charge(gateway, { chargeId: 3 })).body.businessData.balance).toBe(0)
  })

  it('a purchase above the quota gets 429 and changes nothing', async () => {
    const gateway = await testGateway()
    for (const chargeId of [5, 5]) expect((await charge(gateway, { chargeId })).status).toBe(200)
    const refused = await charge(gateway, { chargeId: 3 })
    expect(refused.status).toBe(429)
    expect(refused.body.quota).toMatchObject({ category: 'write', used: 50, requested: 15 })
    expect(balanceOf(gateway)).toBe(4)
    expect((await charge(gateway, { chargeId: 2 })).status).toBe(200)
  })
})

describe('held tickets', () => {
  it('tickets are listed until they expire', async () => {
    const gateway = await testGateway()
    const list = (): Promise<Answer> => gateway.send('POST', '/v1/user/charge', { body: {} })
    expect((await list()).body.businessData).toEqual({ length: 0, userChargeList: [] })
    await charge(gateway, { chargeId: 2 })
    gateway.clock.advance(HOUR_MS)
    await charge(gateway, { chargeId: 5 })
    const { body } = await list()
    expect(heldAnswer.parse(body)).toEqual(body)
    const ticket2 = {
      chargeId: 2,
      stock: 1,
      purchaseDate: '2026-08-06T14:06:26.000Z',
      validDate: '2026-11-04T14:06:26.000Z',
    }
    const ticket5 = {
      chargeId: 5,
      stock: 1,
      purchaseDate: '2026-08-06T15:06:26.000Z',
      validDate: '2026-11-04T15:06:26.000Z',
    }
    expect(body.businessData).toEqual({ length: 2, userChargeList: [ticket2, ticket5] })
    gateway.clock.set(START + TICKET_VALID_MS - 1)
    expect((await list()).body.businessData.length).toBe(2)
    gateway.clock.set(START + TICKET_VALID_MS)
    expect((await list()).body.businessData).toEqual({ length: 1, userChargeList: [ticket5] })
    const others = await gateway.send('POST', '/v1/user/charge', { token: ADMIN_TOKEN })
    expect(others.body.businessData.length).toBe(0)
  })

  it('clearing tickets pays nothing back', async () => {
    const gateway = await testGateway()
    await charge(gateway, { chargeId: 2 })
    await charge(gateway, { chargeId: 3 })
    const { status, body } = await gateway.send('POST', '/v1/ticket/clear', { body: {} })
    expect(status).toBe(200)
    expect(clearAnswer.parse(body).businessData).toEqual({ clearedCount: 2 })
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 30 })
    expect((await gateway.send('POST', '/v1/user/charge')).body.businessData.length).toBe(0)
    expect(balanceOf(gateway)).toBe(7)
  })
})

describe('histories of purchases', () => {
  interface Purchase {
    readonly chargeId: Charge
    readonly key: string | undefined
  }
  type Step = { readonly waitMs: number; readonly atOnce: readonly Purchase[] }

  const purchase = fc.record({
    chargeId: fc.constantFrom<Charge>(2, 3, 5),
    key: fc.constantFrom(undefined, 'a', 'b'),
  })
  const step: fc.Arbitrary<Step> = fc.record({
    waitMs: fc.constantFrom(0, 0, HOUR_MS, 24 * HOUR_MS),
    atOnce: fc.array(purchase, { minLength: 1, maxLength: 5 }),
  })
  const numRuns = process.env.QUOTA_TEST_DEEP === '1' ? 200 : 8

  it('any history of purchases takes credits exactly for the existing tickets', async () => {
    const gateway = await testGateway()
    const { users, tokens } = gateway.gateway.app
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
        runs++
        const id = `player-${runs}`
        const token = `gw_test-${id}`
        await users.create({ id, name: id, role: 'player' })
        await tokens.add({ userId: id }, token, 'test')
        const bought: Charge[] = []
        const replies = new Map<string, string>()
        for (const { waitMs, atOnce } of steps) {
          gateway.clock.advance(waitMs)
          if (waitMs >= 24 * HOUR_MS) replies.clear()
          const answers = await Promise.all(
            atOnce.map(({ chargeId, key }) => {
              const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key }
              return gateway.send('POST', '/v1/charge', { token, headers, body: { chargeId } })
            }),
          )
          for (const { status } of answers) expect([200, 403, 409, 422, 429]).toContain(status)
          // Of those that came together a replay may have come back before the answer that it repeats.
          const successes = answers
            .map((answer, index) => ({ ...answer, ...atOnce[index]!, isReplay: isReplayed(answer) }))
            .filter(({ status }) => status === 200)
            .sort((a, b) => Number(a.isReplay) - Number(b.isReplay))
          for (const { body, chargeId, key, isReplay } of successes) {
            expect(body.businessData.charge).toBe(chargeId)
            const text = JSON.stringify(body)
            if (!isReplay) bought.push(chargeId)
            if (key === undefined) continue
            // One answer a key: the first is not replayed, and all others are the same.
            if (!isReplay) expect(replies.has(key)).toBe(false)
            expect(replies.get(key) ?? text).toBe(text)
            replies.set(key, text)
          }
        }
        const spent = bought.reduce((sum, chargeId) => sum + TICKET_CREDITS[chargeId], 0)
        expect(balanceOf(gateway, id) + spent).toBe(10)
        const { body } = await gateway.send('POST', '/v1/user/charge', { token })
        const held = body.businessData.userChargeList.map((ticket: { chargeId: Charge }) => ticket.chargeId)
        expect(held.sort()).toEqual(bought.sort())
      }),
      { numRuns },
    )
  })
})
