import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { importAnswer } from '../src/sources/sources.ts'
import { databaseOf, ENTRY, USER_TOKEN, usedOf } from './support/gateway.ts'
import { shared } from './support/shared.ts'
import { clearScores, KEY, sourceGateway } from './support/source-gateway.ts'
import {
  type Answering,
  fishError,
  fishRecord,
  fishRecords,
  held,
  json,
  lxError,
  lxScore,
  lxScores,
  nobody,
  silence,
  text,
  torn,
} from './support/source-server.ts'

// The first gateway of a file waits for everything to be loaded.
describe('imports', () => {
  describe('two imports of one player', () => {
    const story = shared(async () => {
      const gateway = await sourceGateway()
      await clearScores(gateway)
      gateway.lx.answer(
        lxScores(
          lxScore({ id: 102, level_index: 4, dx_score: 2064 }),
          lxScore({ achievements: 200 }),
          lxScore({ type: 'dx' }),
          lxScore({ type: 'dx', achievements: 90 }),
        ),
      )
      const first = await gateway.updateLx({ key: `  ${KEY}\n`, qrcode: 'legacy' })
      gateway.clock.advance(60_000)
      const again = await gateway.updateLx()
      const scores = await gateway.scores()
      return { first, again, scores, requests: gateway.lx.requests, used: await usedOf(gateway) }
    })

    it('an import reports created, unchanged and skipped records', () => {
      const { first } = story()
      expect(first.status).toBe(200)
      expect(importAnswer.parse(first.body)).toEqual(first.body)
      expect(first.body).toEqual({
        returnCode: 1,
        code: 0,
        msg: 'ok',
        returnMessage: 'ok',
        businessData: {
          source: 'lx',
          fetched: 4,
          created: 2,
          updated: 0,
          unchanged: 1,
          skipped: 1,
          errors: [{ path: 'data.1.achievements', msg: 'expected a percentage from 0 to 101' }],
          syncedAt: '2026-08-06T14:06:26.000Z',
        },
      })
    })

    it('an import sends the trimmed key to the source', () => {
      expect(story().requests[0]?.headers['x-user-token']).toBe(KEY)
    })

    it('a second import of unchanged records changes nothing', () => {
      expect(story().again.body.businessData).toMatchObject({ created: 0, updated: 0, unchanged: 3, skipped: 1 })
    })

    it('imported scores have the best fields of their records, also of unknown charts', () => {
      const common = {
        achievement: 1_005_700,
        dxScoreSource: 'exact',
        comboStatus: 2,
        syncStatus: 3,
        scoreRank: 13,
        playCount: null,
        source: 'lx',
        playedAt: '2026-05-01T12:30:00.000Z',
        updatedAt: '2026-08-06T14:06:26.000Z',
      }
      expect(story().scores).toEqual([
        {
          ...common,
          musicId: 102,
          level: 4,
          type: 'standard',
          title: 'Tidewater Telegram',
          dxScore: 2064,
          dxScoreMax: 2064,
          dxStar: 5,
          deluxscoreMax: 2064,
        },
        // A chart that isn't in our table.
        {
          ...common,
          musicId: 10_834,
          level: 3,
          type: 'dx',
          dxScore: 3751,
          dxScoreMax: null,
          dxStar: null,
          deluxscoreMax: null,
        },
      ])
    })

    it('imports are charged as reads', () => {
      expect(story().used).toEqual({ read: 14, write: 0 })
    })
  })

  it('an import keeps the best of each field across sources', async () => {
    const gateway = await sourceGateway()
    await clearScores(gateway)
    const upsert = { ...ENTRY, achievement: 100.5, dxScore: 5, fuzzy: true, comboStatus: 'fc', syncStatus: 'fs' }
    await gateway.send('POST', '/v1/music/upsert', { body: { musicList: [upsert] } })
    gateway.clock.advance(1_000)
    gateway.fish.answer(
      fishRecords(fishRecord({ song_id: 101, achievements: 99, dxScore: 1400, fc: 'ap', fs: 'sync' })),
      fishRecords(fishRecord({ song_id: 101, achievements: 100.6, dxScore: 0, fc: '', fs: '' })),
    )
    expect((await gateway.updateFish()).body.businessData).toMatchObject({ source: 'fish', updated: 1 })
    const { businessData: user } = (await gateway.send('POST', '/v1/user/data')).body
    expect(user).toMatchObject({ playerRating: 15_123, updatedAt: '2026-08-06T14:06:27.000Z' })
    // An exact DX score before a fuzzy one, though lower; fs is stronger than sync.
    const better = { achievement: 1_005_000, dxScore: 1400, dxScoreSource: 'exact', comboStatus: 3, syncStatus: 1 }
    expect(await gateway.scores()).toMatchObject([{ ...better, source: 'fish', updatedAt: '2026-08-06T14:06:27.000Z' }])
    gateway.clock.advance(1_000)
    expect((await gateway.updateFish()).body.businessData).toMatchObject({ updated: 1 })
    expect(await gateway.scores()).toMatchObject([{ ...better, achievement: 1_006_000 }])
    gateway.lx.answer(
      lxScores(lxScore({ id: 101, achievements: 80, dx_score: 9, fc: null, fs: null, play_time: null })),
    )
    expect((await gateway.updateLx()).body.businessData).toMatchObject({ updated: 0, unchanged: 1 })
    expect(await gateway.scores()).toMatchObject([{ ...better, achievement: 1_006_000, source: 'fish' }])
  })

  it('an import lists the first hundred of many invalid records', async () => {
    const { fish, updateFish } = await sourceGateway()
    fish.answer(fishRecords(...Array<number>(250).fill(7), fishRecord()))
    const { businessData } = (await updateFish()).body
    expect(businessData).toMatchObject({ fetched: 251, created: 1, skipped: 250 })
    expect(businessData.errors).toHaveLength(100)
  })

  it.each(['lx', 'fish'] as const)(
    'an import accepts an OAuth access token in place of a personal one: %s',
    async (name) => {
      const gateway = await sourceGateway()
      gateway.lx.answer(lxScores(lxScore()))
      gateway.fish.answer(fishRecords(fishRecord()))
      // Such tokens are longer than personal ones.
      const accessToken = `eyJ0.${'x'.repeat(500)}`
      const update = name === 'lx' ? gateway.updateLx : gateway.updateFish
      const { status, body } = await update({ accessToken, qrcode: 'legacy' })
      expect([status, body.businessData]).toMatchObject([200, { source: name, fetched: 1 }])
      const [request] = gateway[name].requests
      expect(request?.path).toMatch(name === 'lx' ? /\/user\/maimai\/player\/scores$/ : /^\/player\/records$/)
      expect(request?.headers.authorization).toBe(`Bearer ${accessToken}`)
      expect(request?.headers).not.toHaveProperty(name === 'lx' ? 'x-user-token' : 'import-token')
      expect(JSON.stringify([databaseOf(gateway.dataDir), gateway.log])).not.toContain('eyJ0')
      const both = await update({ accessToken, [name === 'lx' ? 'key' : 'token']: KEY })
      expect([both.status, both.body.details[0].path]).toEqual([422, name === 'lx' ? 'key' : 'token'])
      expect((await update({ accessToken: 'x'.repeat(513) })).body.details).toHaveLength(1)
      expect(gateway[name].requests).toHaveLength(1)
    },
  )

  it('an import rejects a malformed credential', async () => {
    const { updateLx, lx, ...gateway } = await sourceGateway()
    const bodies = [
      {},
      { key: '' },
      { key: ' ' },
      { key: 7 },
      { key: 'a b' },
      { key: 'ключ' },
      { key: 'x'.repeat(513) },
    ]
    for (const sent of bodies) {
      const { status, body } = await updateLx(sent)
      expect({ status, ...body }).toMatchObject({
        status: 422,
        error: 'validation_failed',
        details: [{ path: 'key', msg: 'expected 1 to 512 visible ASCII characters' }],
      })
    }
    expect(lx.requests).toEqual([])
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
  })

  it('an import continues when its caller disconnects, and stays charged', async () => {
    const gateway = await sourceGateway()
    await clearScores(gateway)
    const { answer, release } = held(lxScores(lxScore()))
    gateway.lx.answer(answer)
    const calling = request(`${gateway.gateway.addresses.gateway}/v1/update-lx`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${USER_TOKEN}`, 'Content-Type': 'application/json' },
    })
    calling.on('error', () => undefined).end(JSON.stringify({ key: KEY }))
    await expect.poll(() => gateway.lx.requests.length).toBe(1)
    calling.destroy()
    await expect.poll(() => gateway.log.some((line) => line.includes('"hungUp":true'))).toBe(true)
    release()
    await expect.poll(() => databaseOf(gateway.dataDir).scores).toHaveLength(1)
    expect(await usedOf(gateway)).toEqual({ read: 5, write: 0 })
  })
})

describe('failing sources', () => {
  interface Fault {
    readonly answer: Answering
    readonly status: number
    readonly body: object
    readonly path?: 'lx' | 'fish'
    readonly charged?: number
    readonly timeoutMs?: string
  }
  const faults: Record<string, Fault> = {
    'refuses the credential': {
      answer: lxError(401, `no such token: ${KEY}`),
      status: 422,
      body: { error: 'source_credential_rejected', source: 'lx', upstreamStatus: 401 },
      charged: 5,
    },
    'refuses the import token': {
      path: 'fish',
      answer: fishError('导入token有误'),
      status: 422,
      body: { error: 'source_credential_rejected', source: 'fish', upstreamStatus: 400 },
      charged: 5,
    },
    'keeps a profile private': {
      path: 'fish',
      answer: fishError('已设置隐私', 403),
      status: 422,
      body: { error: 'source_privacy', source: 'fish', upstreamStatus: 403 },
      charged: 5,
    },
    'sends a page': {
      answer: text(`<html>${KEY}</html>`, 403, { 'Content-Type': 'text/html' }),
      status: 502,
      body: { error: 'source_bad_response', source: 'lx', upstreamStatus: 403 },
    },
    'sends no JSON': {
      answer: text(`${KEY} is not JSON`),
      status: 502,
      body: { error: 'source_bad_response', source: 'lx', upstreamStatus: 200 },
    },
    'is broken': {
      answer: json({ success: false, code: 500, message: KEY }, 500),
      status: 502,
      body: { error: 'source_error', source: 'lx', upstreamStatus: 500 },
    },
    'is asked too often': {
      answer: lxError(429, 'too many requests', { 'Retry-After': '17' }),
      status: 502,
      body: { error: 'source_rate_limited', source: 'lx', upstreamStatus: 429, retryAfterSeconds: 17 },
    },
    'tears the connection': { answer: torn, status: 502, body: { error: 'source_unreachable', source: 'lx' } },
    'does not answer in time': {
      answer: silence,
      timeoutMs: '100',
      status: 504,
      body: { error: 'source_timeout', source: 'lx' },
    },
  }

  it.each(Object.entries(faults))('a source that answers with %s fails the import', async (_name, fault) => {
    const { path = 'lx', answer, status, body, charged = 0, timeoutMs = '10000' } = fault
    const gateway = await sourceGateway({ env: { SOURCE_TIMEOUT_MS: timeoutMs } })
    const before = databaseOf(gateway.dataDir)
    gateway[path].answer(answer)
    const answered = await (path === 'lx' ? gateway.updateLx() : gateway.updateFish())
    expect(answered.status).toBe(status)
    expect(answered.body).toEqual({ ...body, msg: expect.any(String), requestId: expect.any(String) })
    const { retryAfterSeconds } = body as { retryAfterSeconds?: number }
    expect(answered.headers.get('Retry-After')).toBe(retryAfterSeconds?.toString() ?? null)
    expect(await usedOf(gateway)).toEqual({ read: charged, write: 0 })
    expect(databaseOf(gateway.dataDir)).toEqual(before)
    // Neither the player's credential nor what the source says of it goes anywhere.
    expect(JSON.stringify(answered.body) + gateway.log.join('')).not.toContain(KEY)
    expect(gateway.log.join('')).toContain('"msg":"source failed"')
  })

  it('a source that can’t be reached fails the import without a charge', async () => {
    const gateway = await sourceGateway({ env: { LXNS_BASE_URL: await nobody() } })
    expect(await gateway.updateLx()).toMatchObject({ status: 502, body: { error: 'source_unreachable', source: 'lx' } })
    expect(await usedOf(gateway)).toEqual({ read: 0, write: 0 })
  })
})
