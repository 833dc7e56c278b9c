import { join } from 'node:path'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import { deleteAnswer, listAnswer, upsertAnswer } from '../src/scores/bodies.ts'
import { ADMIN_TOKEN, databaseOf, ENTRY, START, testGateway, usedOf } from './support/gateway.ts'
import { shared } from './support/shared.ts'

const upsert = (...musicList: object[]): { body: unknown } => ({ body: { musicList } })

describe('upserting scores', () => {
  describe('three upserts of one player', () => {
    const first = { ...ENTRY, musicId: 102, level: 4, dxScore: 2064 }
    const other = {
      musicId: 10104,
      level: 3,
      achievement: 970_000,
      dxScore: 2000,
      comboStatus: 'ap',
      syncStatus: 'fdxp',
    }
    const story = shared(async () => {
      const { send, clock } = await testGateway()
      const created = await send('POST', '/v1/music/upsert', upsert(first))
      clock.advance(1_000)
      const again = await send('POST', '/v1/music/upsert', upsert(first, other))
      const worse = { ...other, achievement: '50.1234', dxScore: 0 }
      return { created, again, worse: await send('POST', '/v1/music/upsert', upsert(worse)) }
    })

    it('upsert of a new score creates it and returns all of its fields', () => {
      const { created } = story()
      expect(created.status).toBe(200)
      expect(upsertAnswer.parse(created.body)).toEqual(created.body)
      expect(created.body).toEqual({
        returnCode: 1,
        code: 0,
        msg: 'ok',
        returnMessage: 'ok',
        businessData: {
          uploadedMusicCount: 1,
          skippedMusicCount: 0,
          results: [
            {
              musicId: 102,
              level: 4,
              status: 'created',
              score: {
                musicId: 102,
                level: 4,
                type: 'standard',
                title: 'Tidewater Telegram',
                achievement: 1_005_000,
                dxScore: 2064,
                dxScoreMax: 2064,
                dxStar: 5,
                dxScoreSource: 'exact',
                comboStatus: 0,
                syncStatus: 0,
                scoreRank: 13,
                playCount: null,
                source: 'api',
                playedAt: null,
                updatedAt: '2026-08-06T14:06:26.000Z',
              },
            },
          ],
        },
      })
    })

    it('upsert leaves an equal score unchanged and updates a different one', () => {
      const { uploadedMusicCount, skippedMusicCount, results } = story().again.body.businessData
      expect([uploadedMusicCount, skippedMusicCount]).toEqual([1, 1])
      expect(results).toMatchObject([
        { status: 'unchanged', score: { updatedAt: new Date(START).toISOString() } },
        { status: 'updated', score: { type: 'dx', comboStatus: 3, syncStatus: 4, achievement: 970_000, scoreRank: 8 } },
      ])
    })

    it('upsert overwrites a score with a worse one', () => {
      expect(story().worse.body.businessData.results).toMatchObject([
        { status: 'updated', score: { achievement: 501_234, dxStar: 0 } },
      ])
    })
  })

  it('upsert in fuzzy mode turns stars into the lowest DX score that has them', async () => {
    const { send } = await testGateway()
    const { body } = await send('POST', '/v1/music/upsert', upsert({ ...ENTRY, dxScore: 3, fuzzy: true }))
    // ceil(3 x 524 x 93 / 100)
    expect(body.businessData.results[0].score).toMatchObject({ dxScore: 1462, dxStar: 3, dxScoreSource: 'fuzzy' })
  })

  it('upsert accepts an exact DX score of a chart without counted notes', async () => {
    const { send } = await testGateway()
    const { body } = await send('POST', '/v1/music/upsert', upsert({ ...ENTRY, musicId: 100_108, level: 10 }))
    expect(body.businessData.results[0].score).toMatchObject({ type: 'utage', dxScoreMax: null, dxStar: null })
  })

  it('upsert accepts 20 entries and ignores unknown fields without storing or logging them', async () => {
    const { send, dataDir, log } = await testGateway()
    const charts = [
      [101, 0],
      [101, 1],
      [101, 2],
      [101, 3],
      [102, 0],
      [102, 1],
      [102, 2],
      [102, 3],
      [102, 4],
      [103, 2],
      [103, 3],
      [10104, 0],
      [10104, 1],
      [10104, 2],
      [10104, 3],
      [10105, 1],
      [10105, 2],
      [10105, 3],
      [10105, 4],
      [10106, 2],
    ]
    const musicList = charts.map(([musicId, level]) => ({
      musicId,
      level,
      achievement: 90,
      dxScore: 1,
      qrcode: 'SGWCMAID-entry',
    }))
    const { status, body } = await send('POST', '/v1/music/upsert', { body: { musicList, qrcode: 'SGWCMAID-body' } })
    expect(status).toBe(200)
    expect(body.businessData.uploadedMusicCount).toBe(20)
    expect(JSON.stringify([databaseOf(dataDir), log, body])).not.toContain('SGWCMAID')
  })

  it('upsert stores and costs nothing when the database fails in the middle', async () => {
    const gateway = await testGateway()
    const file = new Database(join(gateway.dataDir, 'gateway.sqlite'))
    file.exec(
      "create trigger fails before insert on scores when new.music_id = 103 begin select raise(abort, 'no'); end",
    )
    const before = databaseOf(gateway.dataDir)
    const entries = [ENTRY, { ...ENTRY, musicId: 102 }, { ...ENTRY, musicId: 103 }]
    const answer = await gateway.send('POST', '/v1/music/upsert', upsert(...entries))
    expect([answer.status, answer.body.error]).toEqual([500, 'internal_error'])
    expect(databaseOf(gateway.dataDir)).toEqual(before)
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
    file.exec('drop trigger fails')
    file.close()
    expect((await gateway.send('POST', '/v1/music/upsert', upsert(...entries))).status).toBe(200)
  })

  it('upsert keeps the scores of users apart', async () => {
    const { send } = await testGateway()
    await send('POST', '/v1/music/upsert', { token: ADMIN_TOKEN, ...upsert(ENTRY) })
    const { body } = await send('POST', '/v1/user/music', { token: ADMIN_TOKEN, body: {} })
    expect(body.businessData.length).toBe(1)
    expect((await send('POST', '/v1/user/music', { body: {} })).body.businessData.length).toBe(3)
  })
})

describe('deleting scores', () => {
  it('delete removes a list of scores and says which existed', async () => {
    const { send } = await testGateway()
    const musicList = [
      { musicId: 101, level: 3 },
      { musicId: 101, level: 2 },
    ]
    const { status, body } = await send('POST', '/v1/music/delete', { body: { musicList } })
    expect(status).toBe(200)
    expect(deleteAnswer.parse(body).businessData).toEqual({
      deletedMusicCount: 1,
      results: [
        { musicId: 101, level: 3, status: 'deleted' },
        { musicId: 101, level: 2, status: 'not_found' },
      ],
    })
  })

  it('delete accepts a single pair', async () => {
    const { send } = await testGateway()
    expect(
      (await send('POST', '/v1/music/delete', { body: { musicId: 101, level: 3 } })).body.businessData
        .deletedMusicCount,
    ).toBe(1)
    const { body } = await send('POST', '/v1/user/music')
    expect(body.businessData.userMusicDetailList.map(({ musicId }: { musicId: number }) => musicId)).toEqual([
      10104, 10105,
    ])
  })

  it('delete of nothing gives 404 and returns the tokens', async () => {
    const { send } = await testGateway()
    const answer = await send('POST', '/v1/music/delete', { body: { musicId: 103, level: 3 } })
    expect([answer.status, answer.body.error]).toEqual([404, 'score_not_found'])
    const { body } = await send('GET', '/me/quota')
    expect(body.windows.write.map(({ used }: { used: number }) => used)).toEqual([0, 0, 0, 0, 0, 0])
  })
})

describe('reading all scores', () => {
  it('all scores are listed by music and level, with the maximum under both names', async () => {
    const { send } = await testGateway()
    const { status, body } = await send('POST', '/v1/user/music', { body: {} })
    expect(status).toBe(200)
    expect(listAnswer.parse(body)).toEqual(body)
    const { length, userMusicDetailList } = body.businessData
    expect(length).toBe(3)
    expect(userMusicDetailList[0]).toMatchObject({ musicId: 101, level: 3, deluxscoreMax: 1572, dxScoreMax: 1572 })
  })

  it('reading all scores needs no body', async () => {
    const { send } = await testGateway()
    expect((await send('POST', '/v1/user/music')).status).toBe(200)
  })
})
