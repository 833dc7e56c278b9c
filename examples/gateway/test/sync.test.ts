import { createHash } from 'node:crypto'
import { join } from 'node:path'
import canonicalize from 'canonicalize'
import Database from 'libsql'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { PlayerTurns } from '../src/sync/player-turns.ts'
import {
  ADMIN_TOKEN,
  type Answer,
  ENTRY,
  HOUR_MS,
  START,
  type TestGateway,
  testGateway,
  USER_TOKEN,
} from './support/gateway.ts'
import { BOT_TOKEN, type Bot, botOf, manyRecords, recordOf } from './support/sync.ts'

/** The demo user's. */
const LINKED = 10_001
const UNLINKED = 20_002

async function testSync(env: Record<string, string> = {}): Promise<TestGateway & { bot: Bot; syncUrl: string }> {
  const test = await testGateway({ env: { BOT_TOKEN, ...env } })
  await test.send('POST', '/v1/user/clear', { body: { confirm: true } })
  const syncUrl = `http://127.0.0.1:${test.gateway.ports.sync}`
  return { ...test, syncUrl, bot: botOf(syncUrl) }
}

const full = (snapshotId: string, ...records: object[]) => ({
  qq: LINKED,
  full_snapshot: true,
  snapshot_id: snapshotId,
  records,
})

async function songs(bot: Bot, qq = LINKED): Promise<number[]> {
  const { body } = await bot.get(`/api/bot/player/${qq}`)
  return body.records.map(({ song_id }: { song_id: number }) => song_id)
}

describe('incremental pushes', () => {
  it('a push is visible through the gateway immediately and keeps the best of each field', async () => {
    const { bot, send, clock } = await testSync()
    const first = recordOf(10_106, 3, { achievements: 100.57, dxScore: 2_800, fc: 'fcp', fs: 'sync' })
    const answer = await bot.sync({ qq: LINKED, records: [first] })
    expect(answer.body).toEqual({
      status: 'ok',
      snapshot_id: null,
      imported: 1,
      updated: 0,
      skipped: 0,
      stored_records: 1,
      errors: [],
    })
    clock.advance(1_000)
    const worse = { ...first, achievements: 90, dxScore: 0, fc: 'fc', fs: '' }
    expect((await bot.sync({ qq: LINKED, records: [worse] })).body).toMatchObject({ updated: 0, skipped: 1 })
    const other = { ...first, achievements: 99, dxScore: 2_900, fs: 'fs' }
    expect((await bot.sync({ qq: LINKED, records: [other] })).body).toMatchObject({ updated: 1, skipped: 0 })
    const { body } = await send('POST', '/v1/user/music')
    expect(body.businessData.userMusicDetailList).toMatchObject([
      { achievement: 1_005_700, dxScore: 2_900, dxScoreSource: 'exact', comboStatus: 2, syncStatus: 1, source: 'bot' },
    ])
    expect(body.businessData.userMusicDetailList[0].updatedAt).toBe(new Date(START + 1_000).toISOString())
  })

  it('a push updates the profile, also in the account', async () => {
    const { bot, send } = await testSync()
    await bot.sync({ qq: LINKED, nickname: 'N', source: 'a bot', rating: 15_111, play_count: 77, records: [] })
    expect((await send('POST', '/v1/user/data')).body.businessData).toMatchObject({
      playerRating: 15_111,
      playCount: 77,
    })
    const { body } = await bot.get(`/api/bot/player/${LINKED}`)
    expect(body).toMatchObject({ nickname: 'N', source: 'a bot', rating: 15_111, play_count: 77, linked: true })
  })

  it('a push skips invalid records and lists them', async () => {
    const { bot } = await testSync()
    const records = [recordOf(1), { ...recordOf(2), achievements: 101.5 }, recordOf(1), 5, recordOf(3)]
    const { body } = await bot.sync({ qq: UNLINKED, records })
    expect(body).toMatchObject({ imported: 2, skipped: 3, stored_records: 2 })
    expect(body.errors.map(({ index, path }: { index: number; path: string }) => [index, path])).toEqual([
      [1, 'records.1.achievements'],
      [2, 'records.2'],
      [3, 'records.3'],
    ])
  })

  it('a push may have 10,000 records and no more', async () => {
    const { bot } = await testSync()
    const { body } = await bot.sync({ qq: UNLINKED, records: manyRecords(10_000) })
    expect(body).toMatchObject({ imported: 10_000, stored_records: 10_000 })
    const more = await bot.sync({ qq: UNLINKED, records: manyRecords(10_001) })
    expect([more.status, more.body.error]).toEqual([422, 'validation_failed'])
  })

  it('a malformed push gets 422', async () => {
    const { bot } = await testSync()
    for (const body of [
      { qq: 9_999, records: [] },
      { qq: 1e12, records: [] },
      { qq: '20002', records: [] },
      { qq: UNLINKED },
      { qq: UNLINKED, records: {} },
      { qq: UNLINKED, records: [], full_snapshot: true },
      { qq: UNLINKED, records: [], snapshot_id: '' },
      { qq: UNLINKED, records: [], snapshot_id: 'x'.repeat(65) },
      { qq: UNLINKED, records: [], snapshot_id: 'a\u0000b' },
      { qq: UNLINKED, records: [], snapshot_id: 'a', chunk_index: 2, chunk_total: 2 },
      { qq: UNLINKED, records: [], checksum: 'md5:00' },
      { qq: UNLINKED, records: [{ title: '\ud800' }] },
    ]) {
      const answer = await bot.sync(body)
      expect(answer.status).toBe(422)
      expect(answer.body).toMatchObject({ error: 'validation_failed', detail: answer.body.msg })
    }
  })

  it('a push may have a checksum of its records', async () => {
    const { bot } = await testSync()
    const records = [recordOf(1, 3, { achievements: 1e-7 }), { ...recordOf(2), title: 'é\u2028"\n' }]
    const checksum = `sha256:${createHash('sha256').update(canonicalize(records)!).digest('hex')}`
    expect((await bot.sync({ qq: UNLINKED, records, checksum })).body).toMatchObject({ imported: 2 })
    const wrong = await bot.sync({ qq: UNLINKED, records: records.slice(1), checksum })
    expect([wrong.status, wrong.body.error]).toEqual([422, 'checksum_mismatch'])
  })
})

describe('full snapshots', () => {
  it('a snapshot’s final chunk overwrites and deletes synced scores that it doesn’t have', async () => {
    const { bot, send } = await testSync()
    await bot.sync({ qq: LINKED, records: [recordOf(101), recordOf(2), recordOf(3)] })
    await send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, achievement: 50 }] } })
    expect((await bot.sync(full('a', recordOf(2, 3, { achievements: 80 })))).body.status).toBe('partial')
    expect(await songs(bot)).toEqual([2, 3, 101])
    const last = await bot.sync({ ...full('a', recordOf(4)), snapshot_final: true })
    expect(last.body).toMatchObject({ status: 'ok', imported: 1, stored_records: 3 })
    expect(await songs(bot)).toEqual([2, 4, 101])
    const { records } = (await bot.get(`/api/bot/player/${LINKED}`)).body
    expect(records[0].achievements).toBe(80)
    expect(records[2].achievements).toBe(50)
  })

  it('a snapshot keeps scores changed since its first chunk or partly from elsewhere', async () => {
    const { bot, send } = await testSync()
    await send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })
    await bot.sync({
      qq: LINKED,
      records: [recordOf(101, 3, { achievements: 101 }), recordOf(5), recordOf(6), recordOf(7)],
    })
    await bot.sync(full('a', recordOf(1)))
    await bot.sync({ qq: LINKED, records: [recordOf(5), recordOf(6, 3, { dxScore: 1_501 })] })
    await bot.sync({ ...full('a', recordOf(2)), snapshot_final: true })
    expect(await songs(bot)).toEqual([1, 2, 5, 6, 101])
  })

  it('a snapshot keeps a score whose record is unreadable', async () => {
    const { bot } = await testSync()
    await bot.sync({ qq: UNLINKED, records: [recordOf(1), recordOf(2), recordOf(100_107, 0)] })
    const records = [recordOf(3), { song_id: 1, level_index: 3 }, { song_id: 100_107, level_index: 0, fc: 'x' }]
    await bot.sync({ ...full('a', ...records), qq: UNLINKED, snapshot_final: true })
    expect(await songs(bot, UNLINKED)).toEqual([1, 3, 100_107])
  })

  it('a snapshot without a valid record is rejected, deletes nothing, and blocks no later one', async () => {
    const { bot } = await testSync()
    await bot.sync({ qq: LINKED, records: [recordOf(1)] })
    await bot.sync(full('a', { song_id: 9 }))
    const { status, body } = await bot.sync({ ...full('a'), snapshot_final: true })
    expect([status, body.error]).toEqual([422, 'snapshot_empty'])
    expect(await songs(bot)).toEqual([1])
    expect((await bot.sync({ ...full('b', recordOf(2)), snapshot_final: true })).body.status).toBe('ok')
    expect(await songs(bot)).toEqual([2])
  })

  it('a repeated chunk is replayed, and after the end every chunk is ok', async () => {
    const { bot } = await testSync()
    const [one, two] = [full('a', recordOf(1)), { ...full('a', recordOf(2)), snapshot_final: true }]
    const first = await bot.sync(one)
    await bot.sync({ qq: LINKED, records: [recordOf(1, 3, { dxScore: 1_900 })] })
    expect((await bot.sync(one)).body).toEqual(first.body)
    const last = await bot.sync(two)
    expect((await bot.sync(two)).body).toEqual(last.body)
    expect((await bot.sync(one)).body).toEqual({ ...first.body, status: 'ok', stored_records: 2 })
    const late = await bot.sync(full('a', recordOf(3)))
    expect(late.body).toMatchObject({ status: 'ok', imported: 0, skipped: 1, stored_records: 2 })
    const { records } = (await bot.get(`/api/bot/player/${LINKED}`)).body
    expect(records).toMatchObject([{ song_id: 1, dxScore: 1_900 }, { song_id: 2 }])
  })

  it('a repeated chunk gets its counts and the player’s current state', async () => {
    const { bot } = await testSync()
    const [one, two] = [full('a', recordOf(1)), { ...full('a', recordOf(2)), snapshot_final: true }]
    await bot.sync(one)
    await bot.sync({ qq: LINKED, records: [recordOf(3), recordOf(4)] })
    const counts = { imported: 1, updated: 0, skipped: 0 }
    expect((await bot.sync(one)).body).toMatchObject({ ...counts, status: 'partial', stored_records: 3 })
    expect((await bot.sync(two)).body).toMatchObject({ ...counts, status: 'ok', stored_records: 4 })
    await bot.sync({ qq: LINKED, records: [recordOf(5)] })
    for (const chunk of [one, two]) {
      expect((await bot.sync(chunk)).body).toMatchObject({ ...counts, status: 'ok', stored_records: 5 })
    }
  })

  it('an open snapshot rejects another one and a changed form of itself', async () => {
    const { bot } = await testSync()
    const indexed = { ...full('a', recordOf(1)), chunk_index: 0, chunk_total: 2 }
    expect((await bot.sync(indexed)).status).toBe(200)
    const errors: string[] = []
    for (const body of [
      full('b', recordOf(1)),
      { ...indexed, records: [recordOf(2)] },
      { ...indexed, chunk_index: 1, full_snapshot: false },
      { ...indexed, chunk_index: 1, chunk_total: 3 },
    ]) {
      const answer = await bot.sync(body)
      expect(answer.status).toBe(409)
      errors.push(answer.body.error)
    }
    expect(errors).toEqual(['snapshot_open', 'chunk_conflict', 'chunk_conflict', 'chunk_conflict'])
    expect((await bot.sync({ ...full('b', recordOf(1)), qq: UNLINKED })).status).toBe(200)
  })

  it('an early final chunk is kept, lists the missing chunks, and finishes with the last of them', async () => {
    const { bot } = await testSync()
    await bot.sync({ qq: LINKED, records: [recordOf(9)] })
    const chunk = (index: number) => ({ ...full('a', recordOf(index + 1)), chunk_index: index, chunk_total: 3 })
    const final = { ...chunk(2), snapshot_final: true }
    expect((await bot.sync(chunk(0))).body.status).toBe('partial')
    for (const _again of [1, 2]) {
      const { status, body } = await bot.sync(final)
      expect(status).toBe(409)
      expect(body).toMatchObject({ error: 'snapshot_incomplete', missing: [1] })
    }
    expect(await songs(bot)).toEqual([1, 3, 9])
    expect((await bot.get(`/api/bot/sync/a?qq=${LINKED}`)).body).toMatchObject({
      status: 'partial',
      full_snapshot: true,
      chunk_total: 3,
      chunks: [{ chunk_index: 0 }, { chunk_index: 2 }],
      missing: [1],
    })
    expect((await bot.sync(chunk(1))).body.status).toBe('ok')
    expect((await bot.sync(final)).body.status).toBe('ok')
    expect(await songs(bot)).toEqual([1, 2, 3])
  })

  it('a chunk sent with and without its index counts once, and a final chunk deletes nothing while one is missing', async () => {
    const { bot } = await testSync()
    await bot.sync({ qq: LINKED, records: [recordOf(9)] })
    const [zero, one] = [full('a', recordOf(1)), full('a', recordOf(2))]
    const final = { ...full('a', recordOf(3)), chunk_index: 2, chunk_total: 3, snapshot_final: true }
    expect((await bot.sync(zero)).body).toMatchObject({ status: 'partial', imported: 1 })
    // The answer was lost, and the bot sends the chunk as its first.
    expect((await bot.sync({ ...zero, chunk_index: 0 })).body).toMatchObject({ status: 'partial', imported: 1 })
    const early = await bot.sync(final)
    expect([early.status, early.body.missing]).toEqual([409, [1]])
    expect(await songs(bot)).toEqual([1, 3, 9])
    expect((await bot.sync({ ...one, chunk_index: 1 })).body.status).toBe('ok')
    // After the end, the same chunk is recognised in both forms.
    for (const again of [one, { ...one, chunk_index: 1 }, { ...zero, chunk_index: 0 }]) {
      expect((await bot.sync(again)).body).toMatchObject({ status: 'ok', imported: 1 })
    }
    expect(await songs(bot)).toEqual([1, 2, 3])
  })

  it('a chunk_total below an earlier chunk_index is a conflict', async () => {
    const { bot } = await testSync()
    expect((await bot.sync({ ...full('a', recordOf(1)), chunk_index: 5 })).status).toBe(200)
    const { status, body } = await bot.sync({ ...full('a', recordOf(2)), chunk_index: 0, chunk_total: 1 })
    expect([status, body.error]).toEqual([409, 'chunk_conflict'])
    expect(body.msg).toBe('chunk_total is 1, and chunk_index was 5 on an earlier chunk.')
    expect(await songs(bot)).toEqual([1])
  })

  it('a snapshot expires after 30 idle minutes, and its id is rejected for 7 days', async () => {
    const { bot, clock, gateway } = await testSync()
    const forget = gateway.app.chores.find(({ what }) => what === 'forgetting old snapshots')!
    await bot.sync({ qq: LINKED, records: [recordOf(9)] })
    await bot.sync(full('a', recordOf(1)))
    clock.advance(HOUR_MS / 2 - 1)
    expect((await bot.sync(full('a', recordOf(2)))).status).toBe(200)
    clock.advance(HOUR_MS / 2)
    const late = await bot.sync({ ...full('a', recordOf(3)), snapshot_final: true })
    expect([late.status, late.body.error]).toEqual([409, 'snapshot_expired'])
    expect(await songs(bot)).toEqual([1, 2, 9])
    expect((await bot.get('/api/bot/sync/a')).body.status).toBe('expired')
    expect((await bot.sync({ ...full('b', recordOf(1)), snapshot_final: true })).body.status).toBe('ok')
    clock.advance(7 * 24 * HOUR_MS - HOUR_MS)
    await forget.run()
    expect((await bot.get('/api/bot/sync/b')).body.status).toBe('ok')
    clock.advance(HOUR_MS + 1)
    await forget.run()
    expect((await bot.get('/api/bot/sync/b')).status).toBe(404)
    expect((await bot.get('/api/bot/sync/a')).status).toBe(404)
  })

  it('two players can use one snapshot id and then have to be named', async () => {
    const { bot } = await testSync()
    for (const qq of [LINKED, UNLINKED]) await bot.sync({ ...full('a', recordOf(1)), qq })
    expect((await bot.get('/api/bot/sync/a')).status).toBe(409)
    expect((await bot.get(`/api/bot/sync/a?qq=${UNLINKED}`)).body.qq).toBe(UNLINKED)
  })
})

describe('chunks that fail', () => {
  it('a failed chunk changes nothing and is stored when it is repeated', async () => {
    const { bot, dataDir } = await testSync()
    const file = new Database(join(dataDir, 'gateway.sqlite'))
    onTestFinished(() => void file.close())
    const failing = async (trigger: string, body: object): Promise<void> => {
      file.exec(`create trigger broken ${trigger} begin select raise(abort, 'broken'); end`)
      expect((await bot.sync(body)).status).toBe(500)
      file.exec('drop trigger broken')
    }
    for (const qq of [LINKED, UNLINKED]) {
      await bot.sync({ qq, records: [recordOf(9)] })
      const first = { ...full('a', recordOf(1)), qq }
      await failing('before insert on sync_chunks', first)
      expect(await songs(bot, qq)).toEqual([9])
      expect((await bot.sync(first)).body).toMatchObject({ status: 'partial', imported: 1 })
      const last = { ...full('a', recordOf(2)), qq, snapshot_final: true }
      await failing("before update on sync_snapshots when new.state = 'finished'", last)
      expect(await songs(bot, qq)).toEqual([1, 9])
      expect((await bot.sync(last)).body).toMatchObject({ status: 'ok', imported: 1 })
      expect(await songs(bot, qq)).toEqual([1, 2])
    }
  })
})

describe('accounts linked later', () => {
  const link = (send: TestGateway['send'], id: string, qq: number | null) =>
    send('PUT', `/admin/users/${id}`, { token: ADMIN_TOKEN, body: { qq } })

  it('a linked account gets earlier scores, the best of each field, and the bot’s profile', async () => {
    const { bot, send } = await testSync()
    await link(send, 'demo', null)
    await send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, achievement: 101, dxScore: 1 }] } })
    await bot.sync({ qq: UNLINKED, rating: 12_345, records: [recordOf(101, 3, { achievements: 99 }), recordOf(2)] })
    expect((await link(send, 'demo', UNLINKED)).status).toBe(200)
    const { body } = await send('POST', '/v1/user/music')
    expect(body.businessData.userMusicDetailList).toMatchObject([
      { musicId: 2, source: 'bot' },
      { musicId: 101, achievement: 1_010_000, dxScore: 1_500 },
    ])
    expect((await send('POST', '/v1/user/data')).body.businessData.playerRating).toBe(12_345)
    // The one that is a mixture now is nobody's to delete.
    await bot.sync({ ...full('a', recordOf(3)), qq: UNLINKED, snapshot_final: true })
    expect(await songs(bot, UNLINKED)).toEqual([3, 101])
  })

  it('an account linked during a snapshot gets the whole snapshot', async () => {
    const { bot, send } = await testSync()
    await link(send, 'demo', null)
    const chunk = (...records: object[]) => ({ ...full('a', ...records), qq: UNLINKED })
    await bot.sync({ qq: UNLINKED, records: [recordOf(9)] })
    await bot.sync(chunk(recordOf(1)))
    await link(send, 'demo', UNLINKED)
    expect((await bot.sync({ ...chunk(recordOf(2)), snapshot_final: true })).body.status).toBe('ok')
    expect(await songs(bot, UNLINKED)).toEqual([1, 2])
  })

  it('an account linked again during a snapshot keeps its scores', async () => {
    const { bot, send } = await testSync()
    await bot.sync({ qq: LINKED, records: [recordOf(1), recordOf(9)] })
    await link(send, 'demo', null)
    await bot.sync(full('a', recordOf(1)))
    await link(send, 'demo', LINKED)
    await bot.sync({ ...full('a', recordOf(2)), snapshot_final: true })
    expect(await songs(bot)).toEqual([1, 2])
  })

  it('an account linked to another user during a snapshot ends the snapshot', async () => {
    const { bot, send } = await testSync()
    await bot.sync(full('a', recordOf(1)))
    await link(send, 'demo', null)
    const late = await bot.sync({ ...full('a', recordOf(2)), snapshot_final: true })
    expect([late.status, late.body.error]).toEqual([409, 'snapshot_expired'])
    expect((await send('POST', '/v1/user/music')).body.businessData.length).toBe(1)
  })
})

describe('concurrent writes of a player', () => {
  it('one of two writes of a player gets 503 with Retry-After, and other players’ writes succeed', async () => {
    const { bot } = await testSync()
    const records = manyRecords(3)
    const writes = heldWrites()
    const answers: Answer[] = []
    const pushes = [LINKED, LINKED, LINKED, UNLINKED].map(async (qq) => {
      const answer = await bot.sync({ qq, records })
      answers.push(answer)
      return answer
    })
    // One of the three is in flight, and what another player's writes wait for is not known to these.
    await expect.poll(() => answers.length).toBe(2)
    for (const { status, headers, body } of answers) {
      expect([status, headers.get('Retry-After')]).toEqual([503, '1'])
      expect(body).toMatchObject({ error: 'player_busy', retryAfterSeconds: 1 })
    }
    expect(writes.held().toSorted()).toEqual([LINKED, UNLINKED])
    writes.release()
    const all = await Promise.all(pushes)
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 200, 503, 503])
    expect(all.at(-1)?.status).toBe(200)
    const after = await bot.sync({ qq: LINKED, records })
    expect(after.body).toMatchObject({ skipped: 3, stored_records: 3 })
  })
})

/** Pauses a write right before its transaction. */
function heldWrites(): { held(): number[]; release(): void } {
  const held: number[] = []
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const { take } = PlayerTurns.prototype
  const spy = vi.spyOn(PlayerTurns.prototype, 'take').mockImplementation(async function (this: PlayerTurns, ...args) {
    held.push(args[0])
    await released
    return take.apply(this, args)
  })
  onTestFinished(() => spy.mockRestore())
  return { held: () => held, release }
}

describe('sync credentials', () => {
  const CHART_API_KEY = 'mk_test-0123456789'

  it('sync accepts only bot tokens, in their field, and no other service accepts them', async () => {
    const { send, syncUrl, gateway } = await testSync({ CHART_API_KEY })
    const paths = [
      '/api/bot/sync',
      '/api/bot/player/10001',
      '/api/bot/player/1',
      '/api/bot/sync/a',
      '/nothing',
      '/admin/users',
    ]
    const bodies = new Set<string>()
    for (const credential of [USER_TOKEN, ADMIN_TOKEN, CHART_API_KEY, 'unknown-bot-token', `${BOT_TOKEN}x`]) {
      for (const field of ['Bot-Token', 'Authorization', 'X-API-Key']) {
        const value = field === 'Authorization' ? `Bearer ${credential}` : credential
        for (const path of paths) {
          const response = await fetch(`${syncUrl}${path}`, { headers: { [field]: value } })
          expect(response.status).toBe(401)
          expect(response.headers.get('WWW-Authenticate')).toBe('Bot-Token')
          if (field === 'Bot-Token') bodies.add(((await response.json()) as { msg: string }).msg)
        }
      }
    }
    expect([...bodies]).toEqual(['The credential is not valid.'])
    expect((await send('GET', '/me/quota', { token: BOT_TOKEN })).status).toBe(401)
    expect((await send('GET', '/me/quota', { token: null, headers: { 'Bot-Token': BOT_TOKEN } })).status).toBe(401)
    const charts = `http://127.0.0.1:${gateway.ports.charts}/api/v1/charts`
    for (const field of ['X-API-Key', 'Bot-Token']) {
      expect((await fetch(charts, { headers: { [field]: BOT_TOKEN } })).status).toBe(401)
    }
  })

  it('revoked bot tokens are rejected', async () => {
    const { send, syncUrl } = await testSync()
    const issued = await send('POST', '/admin/bots', { token: ADMIN_TOKEN, body: { name: 'one' } })
    const bot = botOf(syncUrl, issued.body.token)
    expect((await bot.sync({ qq: UNLINKED, records: [] })).status).toBe(200)
    await send('DELETE', `/admin/bots/${issued.body.id}`, { token: ADMIN_TOKEN })
    const { status, body } = await bot.sync({ qq: UNLINKED, records: [] })
    expect(status).toBe(401)
    expect(body).toMatchObject({ error: 'unauthorized', msg: body.detail })
  })
})
