import { join } from 'node:path'
import { manualClock } from '@scoregw/quota-testkit'
import Database from 'libsql'
import { describe, expect, it } from 'vitest'
import type { Play } from '../src/scores/score.ts'
import {
  changeUpload,
  createUpload,
  expireUpload,
  findUpload,
  keepPlays,
  storeUpload,
} from '../src/uploads/upload-sessions.ts'
import {
  ADMIN_TOKEN,
  type Answer,
  databaseOf,
  START,
  sender,
  type TestGateway,
  tempDir,
  testGateway,
  USER_TOKEN,
} from './support/gateway.ts'
import { runGateway } from './support/process.ts'
import { createPlayers, embeddedDatabase } from './support/test-database.ts'
import { addCharts, begun, scoresOf, type UploadCalls, uploadCalls } from './support/uploads.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'

const MINUTE_MS = 60_000

async function started(): Promise<TestGateway & UploadCalls> {
  const gateway = await testGateway()
  addCharts(gateway.dataDir, 60)
  return { ...gateway, ...uploadCalls(gateway.send) }
}

describe('uploads in parts', () => {
  it('an upload holds tokens while scores arrive, stores all of them together, and is charged once', async () => {
    const { create, add, check, used, stored } = await started()
    const { body } = await create()
    expect(body.businessData).toEqual({
      sessionId: expect.any(String),
      expiresAt: '2026-08-06T14:16:26.000Z',
      expected: null,
    })
    const { sessionId } = body.businessData
    expect(await used()).toEqual({ used: 0, held: 0 })
    const first = await add(sessionId, scoresOf(0, 20))
    expect(first.body.businessData).toEqual({
      uploadedMusicCount: 0,
      skippedMusicCount: 0,
      results: [],
      session: {
        sessionId,
        expiresAt: '2026-08-06T14:16:26.000Z',
        expected: null,
        receivedMusicCount: 20,
        tokensHeld: 15,
      },
    })
    // The price of one upsert for each begun 20 scores.
    expect((await add(sessionId, scoresOf(20, 1))).body.businessData.session.tokensHeld).toBe(30)
    expect((await add(sessionId, scoresOf(21, 4))).body.businessData.session.tokensHeld).toBe(30)
    expect([await used(), await stored()]).toEqual([{ used: 30, held: 30 }, 0])
    const done = {
      sessionId,
      status: 'done',
      expiresAt: null,
      expected: null,
      receivedMusicCount: 25,
      uploadedMusicCount: 25,
      skippedMusicCount: 0,
      tokensCharged: 30,
    }
    expect((await check(sessionId)).body.businessData).toEqual(done)
    expect((await check(sessionId, '0')).body.businessData).toEqual(done)
    expect([await used(), await stored()]).toEqual([{ used: 30, held: 0 }, 25])
    expect((await add(sessionId, scoresOf(0, 1))).body.error).toBe('conflict')
  })

  it('a repeated part counts once, and a chart’s last score wins', async () => {
    const { send, dataDir, ...session } = await started()
    await send('POST', '/v1/music/upsert', { body: { musicList: scoresOf(5, 1) } })
    const sessionId = await begun(session)
    for (const _ of [1, 2, 3]) await session.add(sessionId, scoresOf(0, 20))
    const again = await session.add(sessionId, scoresOf(0, 2, 90))
    expect(again.body.businessData.session).toMatchObject({ receivedMusicCount: 20, tokensHeld: 15 })
    const { body } = await session.check(sessionId)
    // One of them was there already, just so.
    expect(body.businessData).toMatchObject({ uploadedMusicCount: 19, skippedMusicCount: 1, tokensCharged: 15 })
    const rows = databaseOf(dataDir).scores as { music_id: number; achievement: number }[]
    const made = rows.filter(({ music_id }) => music_id > 2_000 && music_id < 2_004)
    expect(made.map(({ achievement }) => achievement)).toEqual([900_000, 900_000, 1_000_000])
    expect(databaseOf(dataDir).upload_scores).toEqual([])
  })

  it('a part above the remaining tokens is refused, and the upload continues when there are enough', async () => {
    const { send, clock, add, check, used, create } = await started()
    const sessionId = await begun({ create } as UploadCalls)
    for (const from of [0, 20, 40]) await add(sessionId, scoresOf(from, 20))
    await send('POST', '/v1/music/upsert', { body: { musicList: scoresOf(0, 1) } })
    const other = await begun({ create } as UploadCalls)
    const refused = await send('POST', '/v1/music/upsert', {
      body: { sessionId: other, musicList: scoresOf(0, 1) },
      headers: { 'Accept-Language': 'zh-CN' },
    })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('Retry-After')).toBe('3600')
    expect(refused.body).toMatchObject({
      error: 'quota_exceeded',
      msg: expect.stringContaining('已达到个人 1 小时写入配额上限'),
      quota: { window: '1h', used: 60, requested: 15, windowLabel: '1 小时' },
    })
    expect(await used()).toEqual({ used: 60, held: 45 })
    // The first has its tokens; the other one gets them with the next hour.
    expect((await check(sessionId)).body.businessData).toMatchObject({ status: 'done', tokensCharged: 45 })
    for (let minutes = 0; minutes < 60; minutes += 9) {
      clock.advance(9 * MINUTE_MS)
      expect((await check(other)).body.businessData).toMatchObject({ status: 'open', receivedMusicCount: 0 })
    }
    expect((await add(other, scoresOf(0, 1))).status).toBe(200)
    // Written down as what it came to, with the refusal.
    const list = (await send('GET', '/me/usage')).body.businessData.items as { status: number; tokens: number }[]
    expect(list.map(({ status, tokens }) => [status, tokens])).toEqual(
      expect.arrayContaining([
        [429, 0],
        [200, 45],
      ]),
    )
  })

  it('an upload with an announced size isn’t stored before all of it arrived', async () => {
    const session = await started()
    const sessionId = await begun(session, 21)
    await session.add(sessionId, scoresOf(0, 20))
    const early = await session.check(sessionId)
    expect(early.body.businessData).toMatchObject({ status: 'open', expected: 21, receivedMusicCount: 20 })
    expect(await session.stored()).toBe(0)
    const tooMany = await session.add(sessionId, scoresOf(20, 2))
    expect([tooMany.status, tooMany.body.details[0].path]).toEqual([422, 'musicList'])
    await session.add(sessionId, scoresOf(20, 1))
    expect((await session.check(sessionId)).body.businessData).toMatchObject({ status: 'done', tokensCharged: 30 })
  })

  it('an upload is charged once, however many checks arrive together', async () => {
    const session = await started()
    const sessionId = await begun(session)
    await session.add(sessionId, scoresOf(0, 20))
    const answers = await Promise.all(Array.from({ length: 6 }, () => session.check(sessionId)))
    expect(answers.map(({ body }) => body.businessData)).toEqual(Array(6).fill(answers[0]?.body.businessData))
    expect(answers[0]?.body.businessData).toMatchObject({ status: 'done', tokensCharged: 15 })
    expect(await session.used()).toEqual({ used: 15, held: 0 })
    const list = (await session.send('GET', '/me/usage')).body.businessData.items as { operation: string }[]
    expect(list.filter(({ operation }) => operation === 'music.upsert')).toHaveLength(1)
  })

  it('parts that arrive together are kept or sent again, and hold no tokens twice', async () => {
    const session = await started()
    const sessionId = await begun(session)
    const parts = [0, 20, 40].map(async (from) => {
      for (;;) {
        const { status, headers } = await session.add(sessionId, scoresOf(from, 20))
        if (status === 200) return
        expect([status, headers.get('Retry-After')]).toEqual([409, '1'])
      }
    })
    await Promise.all(parts)
    expect((await session.used()).used).toBeGreaterThanOrEqual(45)
    const { body } = await session.check(sessionId)
    expect(body.businessData).toMatchObject({ receivedMusicCount: 60, uploadedMusicCount: 60, tokensCharged: 45 })
    expect(await session.used()).toEqual({ used: 45, held: 0 })
  })
})

describe('uploads that end without being stored', () => {
  it('an expired upload costs and stores nothing, and each call extends it', async () => {
    const { clock, dataDir, ...session } = await started()
    const sessionId = await begun(session)
    for (const from of [0, 1, 2]) {
      clock.advance(10 * MINUTE_MS - 1)
      expect((await session.add(sessionId, scoresOf(from, 1))).status).toBe(200)
    }
    clock.advance(10 * MINUTE_MS - 1)
    expect((await session.used()).held).toBe(15)
    clock.advance(1)
    expect(await session.used()).toEqual({ used: 0, held: 0 })
    for (const answer of [await session.check(sessionId), await session.add(sessionId, scoresOf(0, 1))]) {
      expect([answer.status, answer.body.error]).toEqual([409, 'session_expired'])
    }
    expect(await session.stored()).toBe(0)
    expect(databaseOf(dataDir).upload_scores).toEqual([])
  })

  it('an abandoned upload is dropped and forgotten after a day', async () => {
    const { clock, dataDir, gateway, ...session } = await started()
    const sessionId = await begun(session)
    await session.add(sessionId, scoresOf(0, 5))
    const chore = gateway.app.chores.find(({ what }) => what === 'going on with upload sessions')
    clock.advance(10 * MINUTE_MS)
    await chore?.run()
    expect(databaseOf(dataDir)).toMatchObject({ upload_scores: [], upload_sessions: [{ state: 'expired' }] })
    clock.advance(24 * 60 * MINUTE_MS)
    await chore?.run()
    expect(databaseOf(dataDir).upload_sessions).toEqual([])
    expect((await session.check(sessionId)).status).toBe(404)
  })

  it('an upload whose hold an administrator released stores nothing', async () => {
    const { send, ...session } = await started()
    const sessionId = await begun(session)
    await session.add(sessionId, scoresOf(0, 5))
    const admin = { token: ADMIN_TOKEN }
    const [hold] = (await send('GET', '/admin/users/demo/quota/holds', admin)).body.items
    expect(hold).toMatchObject({ operation: 'music.upsert', tokens: 15 })
    await send('DELETE', `/admin/users/demo/quota/holds/${hold.ref}`, admin)
    const { status, body } = await session.check(sessionId)
    expect([status, body.error]).toEqual([409, 'session_expired'])
    expect([await session.stored(), await session.used()]).toEqual([0, { used: 0, held: 0 }])
  })
})

/** How a session ends before it is stored. */
const ENDS: Readonly<Record<string, (gateway: TestGateway) => unknown>> = {
  'by its time': ({ clock }) => clock.advance(10 * MINUTE_MS),
  'by an administrator, who releases its tokens': async ({ send }) => {
    const admin = { token: ADMIN_TOKEN }
    const [hold] = (await send('GET', '/admin/users/demo/quota/holds', admin)).body.items
    expect((await send('DELETE', `/admin/users/demo/quota/holds/${hold.ref}`, admin)).status).toBe(204)
  },
}

/** The calls that name a session. */
const NAMING: Readonly<Record<string, (calls: UploadCalls, id: string) => Promise<Answer>>> = {
  'a check': ({ check }, id) => check(id),
  'a part': ({ add }, id) => add(id, scoresOf(20, 1)),
}

describe.each(Object.entries(ENDS))('uploads that ended %s', (_how, end) => {
  it.each(Object.entries(NAMING))('%s is answered with session_expired immediately and again', async (_call, call) => {
    const gateway = await started()
    // Complete without `expected`, and incomplete with it.
    for (const expected of [undefined, 21]) {
      const sessionId = await begun(gateway, expected)
      await gateway.add(sessionId, scoresOf(0, 20))
      await end(gateway)
      for (const _ of [1, 2]) {
        const { status, body } = await call(gateway, sessionId)
        expect([status, body.error]).toEqual([409, 'session_expired'])
      }
    }
    expect([await gateway.stored(), await gateway.used()]).toEqual([0, { used: 0, held: 0 }])
  })
})

describe('uploads at their end', () => {
  it('all concurrent checks of an expired upload get session_expired', async () => {
    const gateway = await started()
    const sessionId = await begun(gateway)
    await gateway.add(sessionId, scoresOf(0, 20))
    gateway.clock.advance(10 * MINUTE_MS)
    const answers = await Promise.all(Array.from({ length: 6 }, () => gateway.check(sessionId, '0')))
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(Array(6).fill([409, 'session_expired']))
  })
})

describe('limits of uploads', () => {
  it('a user can have five open uploads', async () => {
    const { send, clock, ...session } = await started()
    const ids: string[] = []
    for (const _ of [1, 2, 3, 4, 5]) ids.push(await begun(session))
    const sixth = await session.create()
    expect([sixth.status, sixth.body.error]).toEqual([409, 'conflict'])
    expect((await send('POST', '/v1/upsert/session', { token: ADMIN_TOKEN, body: {} })).status).toBe(200)
    await session.add(ids[0] ?? '', scoresOf(0, 1))
    await session.check(ids[0] ?? '')
    expect((await session.create()).status).toBe(200)
    expect((await session.create()).status).toBe(409)
    clock.advance(10 * MINUTE_MS)
    expect((await session.create()).status).toBe(200)
  })

  it('an upload can have 2,000 scores', async () => {
    const { dataDir, ...session } = await started()
    const sessionId = await begun(session)
    await session.add(sessionId, scoresOf(0, 1))
    const file = new Database(join(dataDir, 'gateway.sqlite'))
    file.exec('update upload_sessions set received = 1996, tokens = 1500')
    file.close()
    const over = await session.add(sessionId, scoresOf(10, 5))
    expect([over.status, over.body.error, over.body.details[0].path]).toEqual([422, 'validation_failed', 'musicList'])
    const { body } = await session.add(sessionId, scoresOf(10, 4))
    expect(body.businessData.session.receivedMusicCount).toBe(2_000)
  })

  it('other users’ uploads and malformed sessions are rejected', async () => {
    const { send, ...session } = await started()
    const sessionId = await begun(session)
    const musicList = scoresOf(0, 1)
    const other = await send('POST', '/v1/music/upsert', { token: ADMIN_TOKEN, body: { sessionId, musicList } })
    expect([other.status, other.body.error]).toEqual([404, 'not_found'])
    expect((await send('POST', '/v1/upsert/check', { token: ADMIN_TOKEN, body: { sessionId } })).status).toBe(404)
    expect((await session.add('3b17827f-ce92-497f-8624-a8eb28cc72b4', musicList)).status).toBe(404)
    expect((await session.add('mine', musicList)).status).toBe(422)
    for (const expected of [0, 2_001, 1.5]) expect((await session.create(expected)).status).toBe(422)
    const unknown = await session.add(sessionId, [{ ...musicList[0], musicId: 9_999 }])
    expect([unknown.status, unknown.body.error]).toEqual([422, 'unknown_chart'])
    expect(await session.used()).toEqual({ used: 0, held: 0 })
    // Without a session it is an upsert like any other.
    const plain = await send('POST', '/v1/music/upsert', { body: { sessionId: null, musicList } })
    expect(plain.body.businessData).toMatchObject({ uploadedMusicCount: 1 })
    expect(plain.body.businessData).not.toHaveProperty('session')
  })
})

describe('calls that overlap', () => {
  it('a change that was made for another state of an upload does nothing', async () => {
    const db = await (await embeddedDatabase()).connect()
    const clock = manualClock(START)
    await createPlayers(db, clock, 'ann')
    const empty = await createUpload(db, clock, 'ann', null)
    const play: Play = {
      ...{ musicId: 101, level: 3, achievement: 1_000_000, dxScore: 1 },
      ...{ dxScoreSource: 'exact', comboStatus: 0, syncStatus: 0 },
    }
    const later = START + 11 * MINUTE_MS
    expect(await keepPlays(db, empty, [play], { received: 1, expires_at: later })).toBe(true)
    // Another call read it before that.
    expect(await keepPlays(db, empty, [{ ...play, level: 2 }], { received: 1 })).toBe(false)
    expect(await expireUpload(db, empty)).toBe(false)
    expect(await storeUpload(db, clock, empty)).toBeUndefined()
    const one = await findUpload(db, empty.id)
    expect(one).toMatchObject({ state: 'open', received: 1, expires_at: later })
    if (one === undefined) throw new Error('gone')
    expect(await storeUpload(db, clock, one)).toMatchObject({ state: 'stored', uploaded: 1, skipped: 0 })
    expect(await storeUpload(db, clock, one)).toBeUndefined()
    expect(await expireUpload(db, one)).toBe(false)
    expect(await changeUpload(db, one, 'stored', { state: 'done' })).toBe(true)
    expect(await changeUpload(db, one, 'stored', { state: 'done' })).toBe(false)
  })

  it('an ended upload whose tokens could not be refunded is refunded by the chore', async () => {
    const { clock, dataDir, gateway, ...session } = await started()
    const sessionId = await begun(session)
    await session.add(sessionId, scoresOf(0, 5))
    const file = new Database(join(dataDir, 'gateway.sqlite'))
    file.exec("update upload_sessions set state = 'expired'")
    file.close()
    expect((await session.used()).held).toBe(15)
    await gateway.app.chores.find(({ what }) => what === 'going on with upload sessions')?.run()
    expect(await session.used()).toEqual({ used: 0, held: 0 })
    expect(databaseOf(dataDir)).toMatchObject({ upload_sessions: [{ state: 'expired', hold_token: null }] })
  })
})

describe('processes that die between storing and charging', () => {
  /** From now on counters cannot be settled as long as a session is stored and not charged. */
  const BLOCK = ['insert', 'update', 'delete'].map(
    (event) => `create trigger block_${event} before ${event} on counter_ids
      when exists (select 1 from upload_sessions where state = 'stored')
      begin select raise(abort, 'the process dies here'); end`,
  )

  it.each(isDeep ? ['a check', 'nobody'] : ['nobody'])(
    'an upload of a dead process is charged once when %s asks next',
    async (who) => {
      const dataDir = tempDir()
      const env = { DEMO_USER_TOKEN: USER_TOKEN, DEMO_ADMIN_TOKEN: ADMIN_TOKEN }
      const first = await runGateway(dataDir, env)
      addCharts(dataDir, 60)
      const file = new Database(join(dataDir, 'gateway.sqlite'))
      file.pragma('busy_timeout = 5000')
      for (const trigger of BLOCK) file.exec(trigger)
      const session = uploadCalls(sender(first.baseUrl))
      const sessionId = await begun(session)
      await session.add(sessionId, scoresOf(0, 20))
      await session.add(sessionId, scoresOf(20, 5))
      expect((await session.check(sessionId)).status).toBe(503)
      first.process.kill('SIGKILL')
      await first.ended()
      const [row] = file.prepare('select state, uploaded, charged from upload_sessions').all()
      expect(row).toEqual({ state: 'stored', uploaded: 25, charged: null })
      for (const event of ['insert', 'update', 'delete']) file.exec(`drop trigger block_${event}`)
      file.close()
      const second = await runGateway(dataDir, env)
      const next = uploadCalls(sender(second.baseUrl))
      expect(await next.stored()).toBe(25)
      if (who === 'a check') {
        const { body } = await next.check(sessionId)
        expect(body.businessData).toMatchObject({ status: 'done', uploadedMusicCount: 25, tokensCharged: 30 })
      }
      await expect.poll(next.used, { timeout: 15_000 }).toEqual({ used: 30, held: 0 })
      expect((await next.check(sessionId)).body.businessData).toMatchObject({ status: 'done', tokensCharged: 30 })
      expect(await next.used()).toEqual({ used: 30, held: 0 })
    },
  )
})
