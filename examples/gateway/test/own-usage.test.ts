import { manualClock } from '@scoregw/quota-testkit'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Db } from '../src/db/schema.ts'
import { openSqlite } from '../src/db/sqlite.ts'
import { type Metered, UsageRecorder } from '../src/usage/usage-recorder.ts'
import { UsageRecords } from '../src/usage/usage-records.ts'
import { ownContract } from './support/documents.ts'
import {
  ADMIN_TOKEN,
  ENTRY,
  HOUR_MS,
  START,
  sender,
  type TestGateway,
  tempDir,
  testGateway,
} from './support/gateway.ts'
import { createPlayers, embeddedDatabase } from './support/test-database.ts'

const upsert = ({ send }: TestGateway) => send('POST', '/v1/music/upsert', { body: { musicList: [ENTRY] } })

/** What the caller's requests are, once so many are written down. */
async function usageOf({ send }: TestGateway, count: number, query = ''): Promise<Record<string, unknown>[]> {
  // A request is recorded when its answer has left, which the client may notice earlier.
  await expect.poll(async () => (await send('GET', `/me/usage${query}`)).body.businessData.items.length).toBe(count)
  return (await send('GET', `/me/usage${query}`)).body.businessData.items
}

describe('own usage', () => {
  it('the usage list shows each metered request’s charge and the limit that refused it', async () => {
    const gateway = await testGateway()
    const { send, clock } = gateway
    for (const _ of [1, 2, 3, 4]) expect((await upsert(gateway)).status).toBe(200)
    clock.advance(1_000)
    expect((await upsert(gateway)).status).toBe(429)
    expect((await send('POST', '/v1/user/data')).status).toBe(200)
    // Free, and not metered: neither is there.
    await send('GET', '/me/quota')
    await send('POST', '/v1/music/upsert', { body: { musicList: [] } })
    const items = await usageOf(gateway, 6)
    const later = '2026-08-06T14:06:27.000Z'
    expect(items.map(({ at, operation, tokens, status }) => [at, operation, tokens, status]).sort()).toEqual(
      [
        [later, 'user.data', 2, 200],
        [later, 'music.upsert', 0, 429],
        ...Array.from({ length: 4 }, () => ['2026-08-06T14:06:26.000Z', 'music.upsert', 15, 200]),
      ].sort(),
    )
    expect(items.find(({ status }) => status === 429)).toEqual({
      at: later,
      operation: 'music.upsert',
      category: 'write',
      tokens: 0,
      status: 429,
      error: 'quota_exceeded',
      refusal: {
        scope: 'Personal',
        window: '1h',
        limit: 60,
        used: 60,
        requested: 15,
        resetAt: '2026-08-06T15:06:26.000Z',
      },
    })
  })

  it('the usage list shows a refusal by a limit of a former name without the limit', async () => {
    const gateway = await testGateway()
    for (const _ of [1, 2, 3, 4, 5]) await upsert(gateway)
    await usageOf(gateway, 5)
    await gateway.stop()
    const db = await openSqlite(gateway.dataDir)
    const renamed = sql<string>`replace(refusal, 'personal-write-1h', 'personal-write-60m')`
    await db.updateTable('usage_records').set({ refusal: renamed }).execute()
    await db.destroy()
    const { send } = await testGateway({ dataDir: gateway.dataDir })
    const { status, body } = await send('GET', '/me/usage')
    expect(status).toBe(200)
    expect(body.businessData.items.filter((item: { status: number }) => item.status === 429)).toMatchObject([
      { operation: 'music.upsert', error: 'quota_exceeded', refusal: null },
    ])
    const { body: recent } = await send('GET', '/admin/refusals', { token: ADMIN_TOKEN })
    expect(recent.refusals).toMatchObject([{ name: 'personal-write-60m', operation: 'music.upsert' }])
  })

  it('the usage list shows final outcomes, and failures as uncharged', async () => {
    const gateway = await testGateway()
    const body = { musicId: 10_500, level: 3 }
    expect((await gateway.send('POST', '/v1/music/delete', { body })).status).toBe(404)
    expect(await usageOf(gateway, 1)).toMatchObject([
      { operation: 'music.delete', tokens: 0, status: 404, error: 'score_not_found', refusal: null },
    ])
  })

  it('the usage list has pages without repetitions and shows only the caller’s requests', async () => {
    const gateway = await testGateway()
    const { send, clock } = gateway
    for (let count = 0; count < 7; count++) {
      // Pairs of the same instant.
      if (count % 2 === 0) clock.advance(1)
      expect((await send('POST', '/v1/user/charge')).status).toBe(200)
    }
    await usageOf(gateway, 7)
    const seen: string[] = []
    let cursor = ''
    for (const length of [3, 3, 1]) {
      const { body } = await send('GET', `/me/usage?limit=3${cursor}`)
      const { items, nextCursor } = body.businessData
      seen.push(...items.map(({ at }: { at: string }) => at))
      expect(items).toHaveLength(length)
      cursor = `&cursor=${nextCursor}`
    }
    expect(cursor).toBe('&cursor=null')
    expect(seen).toEqual(seen.toSorted().reverse())
    expect(new Set(seen).size).toBe(4)
    const other = await send('GET', '/me/usage', { token: ADMIN_TOKEN })
    expect(other.body.businessData).toEqual({ items: [], nextCursor: null })
    for (const query of ['?cursor=x', '?limit=0', '?limit=101', '?cursor=1.2']) {
      expect((await send('GET', `/me/usage${query}`)).status).toBe(422)
    }
  })

  it('usage is summed up by days in Beijing', async () => {
    const gateway = await testGateway()
    await upsert(gateway)
    // 22:06 there; in two hours it is the next day.
    gateway.clock.advance(2 * HOUR_MS)
    for (const _ of [1, 2, 3, 4, 5]) await upsert(gateway)
    await usageOf(gateway, 6)
    const { body } = await gateway.send('GET', '/me/usage/stats?days=3')
    expect(body).toMatchObject({ returnCode: 1, code: 0 })
    expect(body.businessData).toEqual({
      days: 3,
      timeZone: 'Asia/Shanghai',
      series: [
        { date: '2026-08-05', requests: 0, tokens: 0, failures: 0 },
        { date: '2026-08-06', requests: 1, tokens: 15, failures: 0 },
        { date: '2026-08-07', requests: 5, tokens: 60, failures: 1 },
      ],
      summary: { requests: 6, tokens: 75, failures: 1 },
    })
    for (const days of ['0', '31', 'x']) {
      expect((await gateway.send('GET', `/me/usage/stats?days=${days}`)).status).toBe(422)
    }
  })

  it('usage is stored when the gateway stops', async () => {
    const dataDir = tempDir()
    const first = await testGateway({ dataDir })
    await upsert(first)
    await first.stop()
    const second = await testGateway({ dataDir })
    const { body } = await second.send('GET', '/me/usage')
    expect(body.businessData.items).toMatchObject([{ operation: 'music.upsert', tokens: 15, status: 200 }])
  })
})

describe('the failure rate', () => {
  it('the failure rate is public if configured, and computed once a minute', async () => {
    const off = await testGateway()
    expect((await off.send('GET', '/usage/failure-rate', { token: null })).status).toBe(401)
    expect((await off.send('GET', '/usage/failure-rate')).status).toBe(404)
    const { gateway, clock } = await testGateway({ env: { FAILURE_RATE_PUBLIC: 'true' } })
    const { gateway: baseUrl } = gateway.addresses
    const send = sender(baseUrl, ownContract(baseUrl))
    const callsOf = async (): Promise<number> => {
      const { status, body } = await send('GET', '/usage/failure-rate', { token: null })
      expect([status, body.businessData.series.length]).toEqual([200, 336])
      return body.businessData.summary.calls
    }
    expect(await callsOf()).toBe(0)
    for (const _ of [1, 2, 3]) await send('GET', '/me/quota')
    await send('GET', '/admin/usage/failure-rate', { token: ADMIN_TOKEN })
    expect(await callsOf()).toBe(0)
    clock.advance(60_000)
    expect(await callsOf()).toBeGreaterThanOrEqual(3)
  })
})

describe('the usage recorder', () => {
  const of = (id: number, more: Partial<Metered> = {}): Metered => ({
    id: `id ${id}`,
    user_id: 'ann',
    at: START + id,
    operation: 'user.data',
    category: 'read',
    cost: 2,
    status: 200,
    error: null,
    settings_version: 0,
    refusal: null,
    charged: () => 2,
    isOver: () => true,
    ...more,
  })

  async function opened(mostWaiting?: number): Promise<{ db: Db; records: UsageRecords; recorder: UsageRecorder }> {
    const db = await (await embeddedDatabase()).connect()
    await createPlayers(db, manualClock(START), 'ann', 'bob')
    const records = new UsageRecords(db)
    return { db, records, recorder: new UsageRecorder(records, manualClock(START), mostWaiting) }
  }

  it('the recorder keeps what the database rejects, up to its maximum, and stores it once', async () => {
    const { db, records, recorder } = await opened(250)
    await db.schema.alterTable('usage_days').renameTo('away').execute()
    for (let id = 0; id < 253; id++) recorder.record(of(id))
    expect(recorder.dropped).toBe(3)
    await expect(recorder.flush()).rejects.toThrow('usage_days')
    await db.schema.alterTable('away').renameTo('usage_days').execute()
    await Promise.all([recorder.flush(), recorder.flush()])
    expect(await records.days('ann', 0)).toMatchObject([{ requests: 250, tokens: 500, failures: 0 }])
    recorder.record(of(20_000))
    expect(recorder.dropped).toBe(3)
  })

  it('the recorder waits a bounded time for the work of a request whose caller disconnected', async () => {
    const { records, recorder } = await opened()
    const work = { isOver: false, charged: 2 }
    const open = { charged: () => work.charged, isOver: () => work.isOver, status: 499 }
    recorder.record(of(1, open))
    recorder.record(of(-60_000, { isOver: () => false }))
    await recorder.flush()
    expect(await records.page('ann', undefined, 10)).toMatchObject([{ id: 'id -60000' }])
    Object.assign(work, { isOver: true, charged: 0 })
    await recorder.flush()
    expect(await records.page('ann', undefined, 1)).toMatchObject([{ id: 'id 1', status: 499, charged: 0 }])
  })

  it('the recorder skips users who were deleted before their requests are stored', async () => {
    const { db, records, recorder } = await opened()
    recorder.record(of(1))
    recorder.record(of(2, { user_id: 'bob' }))
    await db.deleteFrom('users').where('id', '=', 'bob').execute()
    await recorder.flush()
    expect(await records.page('ann', undefined, 10)).toHaveLength(1)
    expect(await records.page('bob', undefined, 10)).toEqual([])
    expect(await db.selectFrom('usage_days').select('user_id').execute()).toEqual([{ user_id: 'ann' }])
  })

  it('refusals are found by an index, without reading admitted requests', async () => {
    const { db } = await opened()
    const query = sql<{ detail: string }>`explain query plan
      select * from usage_records where at >= ${START} and refusal is not null order by at desc limit 10`
    const { rows } = await query.execute(db)
    expect(rows.map(({ detail }) => detail)).toEqual([expect.stringContaining('INDEX usage_records_refused (at>?)')])
  })

  it('the oldest entries of a user are dropped above the maximum', async () => {
    const { records, recorder } = await opened()
    for (let id = 0; id < 1_005; id++) recorder.record(of(id))
    recorder.record(of(0, { id: 'of bob', user_id: 'bob' }))
    await recorder.flush()
    await recorder.forget()
    const kept = await records.page('ann', undefined, 2_000)
    expect([kept.length, kept.at(-1)?.id]).toEqual([1_000, 'id 5'])
    expect(await records.page('bob', undefined, 10)).toHaveLength(1)
  })

  it('a metric counts dropped entries', async () => {
    const { send } = await testGateway()
    const { body } = await send('GET', '/metrics', { token: ADMIN_TOKEN })
    expect(body).toContain('score_gateway_usage_records_dropped_total 0')
  })
})
