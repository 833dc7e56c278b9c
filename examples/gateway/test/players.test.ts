import { describe, expect, it } from 'vitest'
import { playerAnswer } from '../src/players/account.ts'
import { gatesAnswer } from '../src/players/gates.ts'
import { itemsAnswer } from '../src/players/items.ts'
import { clearAnswer } from '../src/scores/bodies.ts'
import { ADMIN_TOKEN, databaseOf, ENTRY, testGateway, usedOf } from './support/gateway.ts'

describe('user data', () => {
  it('user data says who the user is and when data or scores last changed', async () => {
    const gateway = await testGateway()
    const { send, clock } = gateway
    const { status, body } = await send('POST', '/v1/user/data', { body: {} })
    expect(status).toBe(200)
    expect(playerAnswer.parse(body)).toEqual(body)
    expect(body.businessData).toEqual({
      userId: 'demo',
      userName: 'demo',
      playerRating: 0,
      playCount: 0,
      updatedAt: '2026-08-06T14:06:26.000Z',
    })
    expect(await usedOf(gateway)).toEqual({ read: 2, write: 0 })
    const updatedAt = async (): Promise<string> => (await send('POST', '/v1/user/data')).body.businessData.updatedAt
    clock.advance(1_500)
    await send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })
    expect(await updatedAt()).toBe('2026-08-06T14:06:27.500Z')
    clock.advance(1_000)
    await send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })
    expect(await updatedAt()).toBe('2026-08-06T14:06:27.500Z')
    await send('POST', '/v1/music/delete', { body: { musicId: 101, level: 3 } })
    expect(await updatedAt()).toBe('2026-08-06T14:06:28.500Z')
  })
})

describe('items', () => {
  it('items are listed by kind and id', async () => {
    const gateway = await testGateway()
    const { status, body } = await gateway.send('POST', '/v1/user/item-list', { body: {} })
    expect(status).toBe(200)
    expect(itemsAnswer.parse(body)).toEqual(body)
    const { length, userItemList } = body.businessData
    expect([length, userItemList.length]).toEqual([6, 6])
    expect(userItemList[0]).toEqual({ itemKind: 1, itemId: 101, stock: 1, isValid: true })
    expect(await usedOf(gateway)).toEqual({ read: 2, write: 0 })
    const other = await gateway.send('POST', '/v1/user/item-list', { token: ADMIN_TOKEN, body: {} })
    expect(other.body.businessData).toEqual({ length: 0, userItemList: [] })
  })
})

describe('gates', () => {
  it('ten gates are listed, including untouched ones', async () => {
    const gateway = await testGateway()
    const { status, body } = await gateway.send('POST', '/v1/user/kaleidx-scope')
    expect(status).toBe(200)
    expect(gatesAnswer.parse(body)).toEqual(body)
    const { length, userKaleidxScopeList: gates } = body.businessData
    expect(length).toBe(10)
    expect(gates.map(({ gateId }: { gateId: number }) => gateId)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(gates[0]).toMatchObject({ isClear: true, playCount: 3, clearDate: '2026-07-01T12:00:00.000Z' })
    expect(gates[9]).toEqual({
      gateId: 10,
      isGateFound: false,
      isKeyFound: false,
      isClear: false,
      totalRestLife: 0,
      totalAchievement: 0,
      totalDeluxscore: 0,
      bestAchievement: 0,
      bestDeluxscore: 0,
      bestAchievementDate: null,
      bestDeluxscoreDate: null,
      playCount: 0,
      clearDate: null,
      lastPlayDate: null,
      isInfoWatched: false,
    })
    expect(await usedOf(gateway)).toEqual({ read: 2, write: 0 })
  })
})

describe('clearing scores', () => {
  it('clearing deletes only the account’s scores', async () => {
    const gateway = await testGateway()
    const { send, dataDir } = gateway
    await send('POST', '/v1/music/upsert', { token: ADMIN_TOKEN, body: { musicList: [ENTRY] } })
    const { status, body } = await send('POST', '/v1/user/clear', { body: { confirm: true } })
    expect(status).toBe(200)
    expect(clearAnswer.parse(body).businessData).toEqual({ clearedCount: 3 })
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 20 })
    const { scores, items } = databaseOf(dataDir)
    expect(scores).toMatchObject([{ owner: 'admin' }])
    expect(items).toHaveLength(6)
    const again = await send('POST', '/v1/user/clear', { body: { confirm: true } })
    expect([again.status, again.body.businessData]).toEqual([200, { clearedCount: 0 }])
  })

  it('clearing requires its confirmation, and anything else is rejected before a charge', async () => {
    const gateway = await testGateway()
    const before = databaseOf(gateway.dataDir)
    for (const body of [{}, { confirm: false }, { confirm: 'true' }, { confirm: 1 }]) {
      const answer = await gateway.send('POST', '/v1/user/clear', { body })
      expect([answer.status, answer.body.error]).toEqual([422, 'validation_failed'])
      expect(answer.body.details[0].path).toBe('confirm')
    }
    expect(databaseOf(gateway.dataDir)).toEqual(before)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
  })
})

describe('player operations', () => {
  it('unknown fields are ignored and neither stored nor logged', async () => {
    const { send, dataDir, log } = await testGateway()
    const qrcode = 'SGWCMAID-body'
    const bodies = {
      '/v1/user/data': { qrcode },
      '/v1/user/charge': { qrcode },
      '/v1/user/item-list': { qrcode },
      '/v1/user/kaleidx-scope': { qrcode },
      '/v1/charge': { chargeId: 2, qrcode },
      '/v1/ticket/clear': { qrcode },
      '/v1/user/clear': { confirm: true, qrcode },
    }
    const answers: unknown[] = []
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await send('POST', path, {
        body,
        headers: { 'Idempotency-Key': `key of ${path}`.replaceAll(' ', '-') },
      })
      expect([path, answer.status]).toEqual([path, 200])
      answers.push(answer.body)
    }
    expect(JSON.stringify([databaseOf(dataDir), log, answers])).not.toContain('SGWCMAID')
  })

  it('operations without parameters need no body', async () => {
    const { send } = await testGateway()
    for (const path of ['/v1/user/data', '/v1/user/charge', '/v1/user/item-list', '/v1/ticket/clear']) {
      expect((await send('POST', path)).status).toBe(200)
    }
  })
})
