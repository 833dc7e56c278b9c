import { describe, expect, it } from 'vitest'
import { type Fate, flakyProxy } from './support/flaky-proxy.ts'
import { ENTRY, type TestGateway, testGateway, USER_TOKEN } from './support/gateway.ts'
import { PublicClient, PublicQuotaError } from './support/public-client.ts'
import { BOT_TOKEN, manyRecords } from './support/sync.ts'
import { addCharts, scoresOf } from './support/uploads.ts'

interface Fates {
  readonly gateway?: readonly Fate[]
  readonly sync?: readonly Fate[]
}

/** A client of a running gateway, whose waits turn the gateway's clock. */
async function client(fates: Fates = {}): Promise<TestGateway & { client: PublicClient }> {
  const test = await testGateway({ env: { BOT_TOKEN } })
  const { gateway, sync } = test.gateway.addresses
  const options = {
    gatewayUrl: await flakyProxy(gateway, fates.gateway ?? []),
    gatewayToken: USER_TOKEN,
    syncUrl: await flakyProxy(sync, fates.sync ?? []),
    botToken: BOT_TOKEN,
    wait: async (seconds: number) => test.clock.advance(seconds * 1_000),
  }
  return { ...test, client: new PublicClient(options) }
}

describe('a public bot', () => {
  const player = (qq: number, count: number, rating: number) => ({
    qq,
    nickname: `Player\n${qq}`,
    source: 'public-bot',
    ...{ rating, old_rating: rating - 4_000, new_rating: 4_000 },
    app_version: '9.9.9',
    records: manyRecords(count),
  })

  it('a bot syncs a player although responses are lost and the service is away', async () => {
    const { client: bot } = await client({ sync: ['pass', 'lose', 'away', 'pass', 'lose'] })
    const last = await bot.syncPlayer(player(20_002, 2_100, 14_000))
    expect(last).toMatchObject({ status: 'ok', stored_records: 2_100, errors: [] })
    expect([bot.waits, bot.unknowns]).toEqual([[2], 2])
    expect(await bot.player(20_002, '/summary')).toMatchObject({
      nickname: 'Player 20002',
      rating: 14_000,
      old_rating: 10_000,
      new_rating: 4_000,
      record_count: 2_100,
    })
    const { records, record_count } = await bot.player(20_002)
    expect([records.length, record_count]).toEqual([2_100, 2_100])
    const members = ['song_id', 'title', 'type', 'level', 'level_label', 'ds', 'ra', 'rate', 'achievements']
    for (const name of members) expect(records[0]).toHaveProperty(name)
    expect(await bot.player(20_002, '/trend?days=30')).toMatchObject({
      points: [{ date: '2026-08-06', rating: 14_000, record_count: 2_100, delta: 0 }],
      summary: { days_with_data: 1 },
    })
  })

  it('a bot syncs many players concurrently, each one’s writes in order', async () => {
    const { client: bot } = await client()
    const qqs = [20_002, 20_003, 20_004]
    await Promise.all(
      qqs.flatMap((qq) => [bot.syncPlayer(player(qq, 30, 12_000)), bot.syncPlayer(player(qq, 20, 12_500))]),
    )
    for (const qq of qqs) {
      expect(await bot.player(qq, '/summary')).toMatchObject({ rating: 12_500, record_count: 20 })
    }
  })
})

describe('a public client of the gateway', () => {
  it('a client that only relies on documented members reads and writes', async () => {
    const { client: player } = await client({ gateway: ['pass', 'away', 'lose'] })
    expect(await player.gateway('POST', '/v1/user/preview', {})).toMatchObject({ userId: 'demo', isLogin: false })
    expect(await player.gateway('POST', '/v1/user/region', {})).toEqual({ length: 0, userRegionList: [] })
    expect(await player.gateway('GET', '/v1/charge/queue')).toEqual({ length: 0, queue: [] })
    const written = await player.gateway('POST', '/v1/music/upsert', { musicList: [ENTRY] })
    expect(written).toMatchObject({ uploadedMusicCount: 1 })
    const { userMusicDetailList } = await player.gateway('POST', '/v1/user/music', {})
    expect(userMusicDetailList).toContainEqual(expect.objectContaining({ musicId: 101, level: 3 }))
    expect([player.waits, player.unknowns]).toEqual([[2], 1])
    const { items } = await player.gateway('GET', '/me/usage?limit=5')
    expect(items.length).toBeGreaterThan(0)
    expect(Object.keys(items[0])).toEqual(expect.arrayContaining(['at', 'operation', 'status', 'tokens']))
    expect(await player.gateway('GET', '/me/usage/stats?days=7')).toMatchObject({ summary: { failures: 0 } })
    await expect(player.gateway('POST', '/v1/item/upsert', {})).rejects.toThrow('404')
  })

  it('a client shows a refusal’s message, waits as long as it says, and continues', async () => {
    const { client: player, clock } = await client()
    const write = () => player.gateway('POST', '/v1/music/upsert', { musicList: [ENTRY] })
    for (const _ of [1, 2, 3, 4]) await write()
    const error = await write().catch((cause: unknown) => cause)
    if (!(error instanceof PublicQuotaError)) throw error
    expect(error.refusal).toMatchObject({ seconds: 3_600, retryAt: '2026-08-06T15:06:26.000Z' })
    expect(error.refusal.text).toContain('[Personal/write/an hour: 60+15>60]')
    clock.advance(error.refusal.seconds * 1_000)
    expect(await write()).toMatchObject({ skippedMusicCount: 1 })
    // Three hours on, the window that is full is one that it has no word for.
    for (let hour = 0; hour < 3; hour++) {
      for (const _ of [1, 2, 3, 4]) await write().catch(() => undefined)
      clock.advance(3_600_000)
    }
    const later = await write().catch((cause: unknown) => cause)
    if (!(later instanceof PublicQuotaError)) throw later
    expect(later.refusal.text).toMatch(/\[Personal\/write\/5-Hour: \d+\+15>200\]$/)
  })

  it('a client uploads many scores concurrently although responses are lost', async () => {
    const { client: player, dataDir } = await client({
      gateway: ['pass', 'lose', 'pass', 'away', 'lose', 'pass', 'lose'],
    })
    addCharts(dataDir, 60)
    const { sessionId } = await player.gateway('POST', '/v1/upsert/session', { expected: 50 })
    for (const [from, count] of [
      [0, 20],
      [20, 20],
      [40, 10],
    ] as const) {
      await player.gateway('POST', '/v1/music/upsert', { sessionId, musicList: scoresOf(from, count) })
    }
    const done = await player.gateway('POST', '/v1/upsert/check?sync=1', { sessionId })
    expect(done).toMatchObject({ status: 'done', uploadedMusicCount: 50, tokensCharged: 45 })
    expect(player.unknowns).toBe(3)
  })
})
