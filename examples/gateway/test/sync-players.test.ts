import { describe, expect, it } from 'vitest'
import { chartRating } from '../src/scores/score.ts'
import { cleanNickname } from '../src/sync/bodies.ts'
import { HOUR_MS, type TestGateway, testGateway } from './support/gateway.ts'
import { BOT_TOKEN, type Bot, botOf, manyRecords, recordOf } from './support/sync.ts'

const DAY_MS = 24 * HOUR_MS
/** The demo user's. */
const LINKED = 10_001
const UNLINKED = 20_002

async function testSync(): Promise<TestGateway & { bot: Bot }> {
  const test = await testGateway({ env: { BOT_TOKEN } })
  return { ...test, bot: botOf(`http://127.0.0.1:${test.gateway.ports.sync}`) }
}

describe('a player’s rating', () => {
  const ratingOf = async ({ send }: TestGateway) =>
    (await send('POST', '/v1/user/data')).body.businessData.playerRating as number

  it('the rating is the total, with its parts stored next to it', async () => {
    const test = await testSync()
    const ratings = { rating: 15_000, old_rating: 10_600, new_rating: 4_400 }
    await test.bot.sync({ qq: LINKED, ...ratings, records: [recordOf(101)] })
    expect(await ratingOf(test)).toBe(15_000)
    expect((await test.bot.get(`/api/bot/player/${LINKED}`)).body).toMatchObject(ratings)
  })

  it('the rating is the sum of both parts without a total, and one part alone changes nothing', async () => {
    const test = await testSync()
    await test.bot.sync({ qq: LINKED, old_rating: 10_600, new_rating: 4_400, records: [] })
    expect(await ratingOf(test)).toBe(15_000)
    await test.bot.sync({ qq: LINKED, new_rating: 4_500, records: [] })
    expect(await ratingOf(test)).toBe(15_000)
    const { body } = await test.bot.get(`/api/bot/player/${LINKED}/summary`)
    expect(body).toMatchObject({ rating: 15_000, old_rating: 10_600, new_rating: 4_500 })
  })
})

describe('a player’s profile', () => {
  it('the profile has each record in Diving-Fish’s form, as far as the chart is known', async () => {
    const { bot } = await testSync()
    const records = [
      recordOf(10_106, 3, { achievements: 100.5 }),
      recordOf(100_107, 0, { achievements: 60 }),
      recordOf(9_999, 4, { achievements: 49.9999, fc: '', fs: 'sync' }),
    ]
    await bot.sync({ qq: UNLINKED, nickname: 'N', records, anything: { else: 1 } })
    const { body } = await bot.get(`/api/bot/player/${UNLINKED}`)
    expect(body).toMatchObject({ username: null, nickname: 'N', rating: null, record_count: 3, stored_records: 3 })
    const common = { dxScore: 1_500, fc: 'fc', fs: 'fs' }
    expect(body.records).toEqual([
      {
        ...common,
        song_id: 9_999,
        level_index: 4,
        achievements: 49.9999,
        fc: '',
        fs: 'sync',
        title: null,
        type: 'SD',
        level: null,
        level_label: 'Re:MASTER',
        ds: null,
        ra: null,
        rate: 'd',
      },
      {
        ...common,
        song_id: 10_106,
        level_index: 3,
        achievements: 100.5,
        title: 'Clockwork Firefly',
        type: 'DX',
        level: '15',
        level_label: 'Master',
        ds: 15,
        ra: 337,
        rate: 'sssp',
      },
      {
        ...common,
        song_id: 100_107,
        level_index: 0,
        achievements: 60,
        title: '[Utage] Paper Lantern Parade',
        type: null,
        level: '13',
        level_label: 'Utage',
        ds: 13.1,
        ra: null,
        rate: 'b',
      },
    ])
  })

  it('the profile names the linked account', async () => {
    const { bot } = await testSync()
    await bot.sync({ qq: LINKED, records: [] })
    expect((await bot.get(`/api/bot/player/${LINKED}`)).body).toMatchObject({ linked: true, username: 'demo' })
  })

  it('the profile can be read without records', async () => {
    const { bot } = await testSync()
    expect((await bot.get(`/api/bot/player/${UNLINKED}/summary`)).status).toBe(404)
    await bot.sync({ qq: UNLINKED, nickname: 'N', rating: 12_000, records: manyRecords(3) })
    expect((await bot.get(`/api/bot/player/${UNLINKED}/summary`)).body).toEqual({
      qq: UNLINKED,
      nickname: 'N',
      rating: 12_000,
      old_rating: null,
      new_rating: null,
      record_count: 3,
      last_sync_at: '2026-08-06T14:06:26.000Z',
    })
  })

  it('a sync whose name is too long or has line breaks is stored', async () => {
    const { bot } = await testSync()
    const nickname = `  a\r\nb\u0000${'音'.repeat(100)}`
    expect((await bot.sync({ qq: UNLINKED, nickname, records: [recordOf(1)] })).body).toMatchObject({ imported: 1 })
    const { body } = await bot.get(`/api/bot/player/${UNLINKED}/summary`)
    expect(body.nickname).toBe(`a b ${'音'.repeat(60)}`)
    // Nothing is left of this one: the name stays.
    await bot.sync({ qq: UNLINKED, nickname: '\n\t', records: [] })
    expect((await bot.get(`/api/bot/player/${UNLINKED}/summary`)).body).toEqual(body)
  })
})

describe('the rating trend', () => {
  it('the trend has one point per day with a sync in Beijing, from the day’s last', async () => {
    const { bot, clock } = await testSync()
    const sync = (rating: number | undefined, count: number) =>
      bot.sync({ qq: UNLINKED, nickname: 'N', rating, records: manyRecords(count) })
    // 22:06 in Beijing.
    await sync(12_000, 1)
    await sync(12_100, 2)
    clock.advance(2 * HOUR_MS)
    await sync(12_350, 3)
    clock.advance(3 * DAY_MS)
    await sync(undefined, 5)
    const { body } = await bot.get(`/api/bot/player/${UNLINKED}/trend`)
    const parts = { old_rating: null, new_rating: null }
    expect(body).toEqual({
      qq: UNLINKED,
      nickname: 'N',
      days: 30,
      points: [
        { date: '2026-08-06', rating: 12_100, ...parts, record_count: 2, delta: 0 },
        { date: '2026-08-07', rating: 12_350, ...parts, record_count: 3, delta: 250 },
        { date: '2026-08-10', rating: 12_350, ...parts, record_count: 5, delta: 0 },
      ],
      summary: { start_rating: 12_100, end_rating: 12_350, rating_delta: 250, days_with_data: 3 },
    })
    // The point before those that are shown counts for the first of them.
    const four = await bot.get(`/api/bot/player/${UNLINKED}/trend?days=4`)
    expect(four.body.points.map(({ date, delta }: { date: string; delta: number }) => [date, delta])).toEqual([
      ['2026-08-07', 250],
      ['2026-08-10', 0],
    ])
  })

  it('the trend is empty without a sync and for an unknown player', async () => {
    const { bot, clock } = await testSync()
    const empty = { start_rating: null, end_rating: null, rating_delta: 0, days_with_data: 0 }
    const unknown = await bot.get(`/api/bot/player/${UNLINKED}/trend?days=365`)
    expect([unknown.status, unknown.body]).toEqual([
      200,
      { qq: UNLINKED, nickname: null, days: 365, points: [], summary: empty },
    ])
    await bot.sync({ qq: UNLINKED, rating: 1, records: [] })
    clock.advance(DAY_MS)
    expect((await bot.get(`/api/bot/player/${UNLINKED}/trend?days=1`)).body.points).toEqual([])
    for (const days of ['0', '366', 'x']) {
      expect((await bot.get(`/api/bot/player/${UNLINKED}/trend?days=${days}`)).status).toBe(422)
    }
  })

  it('a replayed response adds no day to the trend', async () => {
    const { bot, clock } = await testSync()
    const body = { qq: UNLINKED, full_snapshot: true, snapshot_id: 'a', snapshot_final: true, records: [recordOf(1)] }
    await bot.sync(body)
    clock.advance(DAY_MS)
    expect((await bot.sync(body)).status).toBe(200)
    expect((await bot.get(`/api/bot/player/${UNLINKED}/trend`)).body.points).toHaveLength(1)
  })
})

describe('sync helpers', () => {
  it('a play’s part of the rating is computed in whole numbers', () => {
    const plays = [
      [13.7, 1_010_000, 308],
      [13.7, 1_005_000, 308],
      [13.7, 1_004_999, 297],
      [13.7, 1_000_000, 295],
      [12, 970_000, 232],
      [15, 0, 0],
      // In binary fractions 10 x 1 x 21.6 is 216 as well, and 14.5 x 1 x 21.6 is 313.2.
      [10, 1_000_000, 216],
      [14.5, 1_000_000, 313],
    ] as const
    expect(plays.map(([constant, achievement]) => chartRating(constant, achievement))).toEqual(
      plays.map(([, , rating]) => rating),
    )
  })

  it('names are cleaned', () => {
    expect(cleanNickname('ＰＬＡＹＥＲ')).toBe('ＰＬＡＹＥＲ')
    expect(cleanNickname('a\ud800\u2028b')).toBe('a b')
    expect(cleanNickname('😀'.repeat(70))).toBe('😀'.repeat(64))
    expect(cleanNickname(`${'\n'.repeat(10_000_000)}a`)).toBeUndefined()
  })
})
