import { initialSettings } from '@scoregw/quota/store'
import { describe, expect, it } from 'vitest'
import { replay } from '../../../src/extras/why/replay.ts'
import { gatewayPolicy } from '../../../src/quota/policy.ts'
import {
  ADMIN_TOKEN,
  type Answer,
  ENTRY,
  HOUR_MS,
  START,
  type TestGateway,
  testGateway,
} from '../../support/gateway.ts'

const upsert = { body: { musicList: [ENTRY] } }

const ask = ({ send }: TestGateway, body: object = {}, user = 'demo'): Promise<Answer> =>
  send('POST', `/admin/users/${user}/quota/why`, { token: ADMIN_TOKEN, body })

/** Five writes, of which the fifth is refused, in three hours one after the other. */
async function refusedThrice(gateway: TestGateway): Promise<void> {
  for (let hour = 0; hour < 3; hour++) {
    for (let each = 0; each < 5; each++) await gateway.send('POST', '/v1/music/upsert', upsert)
    if (hour < 2) gateway.clock.advance(HOUR_MS)
  }
}

describe('why a user is refused', () => {
  it('the explanation names the limit, its end, and the settings at that time', async () => {
    const gateway = await testGateway()
    await refusedThrice(gateway)
    gateway.clock.advance(60_000)
    const { status, body } = await ask(gateway)
    expect(status).toBe(200)
    expect(body).toMatchObject({ userId: 'demo', operation: 'music.upsert', category: 'write', proposed: null })
    expect(body.now).toMatchObject({
      allowed: false,
      cost: 15,
      binding: { layer: 'personal', window: '1h', limit: 60, used: 60, requested: 15, retryable: true },
      retryAfterSeconds: 3_540,
    })
    expect(body.now.windows).toHaveLength(6)
    expect(body.refusals).toHaveLength(3)
    expect(body.refusals[0]).toMatchObject({ operation: 'music.upsert', window: '1h', limit: 60, used: 60 })
    expect(body.replay).toMatchObject({
      requests: 15,
      replayed: 15,
      recorded: { refused: 3 },
      present: { refused: 3, limits: [{ layer: 'personal', category: 'write', window: '1h', count: 3 }] },
      proposed: null,
      changed: [],
      unknown: { bySharedLimits: 0, bySlots: 0, undecided: 0, isTruncated: false, hasOwnPeriods: false },
    })
    expect(body.replay.days.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0)).toBe(15)
    // Nothing was charged, nothing was changed.
    expect((await ask(gateway)).body).toEqual(body)
  })

  it('the explanation compares other limits, modes and shadows, now and in earlier days', async () => {
    const gateway = await testGateway()
    await refusedThrice(gateway)
    const lifted = (await ask(gateway, { proposal: { limit: { layer: 'personal', window: '1h', tokens: 75 } } })).body
    // 75 tokens an hour are five writes; the 200 of five hours then bind at the fourteenth.
    expect(lifted.replay.proposed).toEqual({
      refused: 2,
      limits: [{ layer: 'personal', scope: 'Personal', category: 'write', window: '5h', count: 2 }],
    })
    expect(lifted.replay.changed).toHaveLength(3)
    expect(lifted.proposed).toMatchObject({ allowed: true, binding: null })
    expect(lifted.now.allowed).toBe(false)

    const lenient = (await ask(gateway, { proposal: { mode: 'lenient' } })).body
    expect(lenient.proposed.windows[0]).toMatchObject({ window: '1h', limit: 90, used: 60 })
    expect(lenient.replay.proposed.refused).toBe(0)

    const shadow = (await ask(gateway, { proposal: { shadow: { layer: 'personal', window: '1h' } } })).body
    expect(shadow.proposed).toMatchObject({ allowed: true, shadowed: [{ window: '1h' }] })

    // The proposal's answer comes true once it is set.
    const overrides = { write: { '1h': 75 } }
    await gateway.send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: { overrides } })
    const set = (await ask(gateway)).body
    expect(set.now).toEqual(lifted.proposed)
    expect(set.replay.present).toEqual(lifted.replay.proposed)
  })

  it('the explanation includes refunds and ignores other users’ usage', async () => {
    const gateway = await testGateway()
    const { app } = gateway.gateway
    // Charged, and given back: there is no such score. Ten tokens each, of 60 an hour.
    const nothing = { body: { musicId: 999_999, level: 0 } }
    for (let each = 0; each < 8; each++) {
      expect((await gateway.send('POST', '/v1/music/delete', nothing)).status).toBe(404)
    }
    await gateway.send('POST', '/v1/music/upsert', upsert)
    await app.quota.settings.update({ layers: { site: { multiplier: 0.25 } } })
    for (let each = 0; each < 6; each++) {
      await app.quota.consume({ subject: `other${each}`, operation: 'music.upsert', cost: 60 })
    }
    expect((await gateway.send('POST', '/v1/music/upsert', upsert)).status).toBe(429)
    const { body } = await ask(gateway)
    expect(body.now.binding).toMatchObject({ layer: 'site', window: '1h' })
    expect(body.replay).toMatchObject({
      requests: 10,
      replayed: 9,
      recorded: { refused: 1, limits: [{ layer: 'site', count: 1 }] },
      present: { refused: 0 },
      unknown: { bySharedLimits: 1 },
    })
    // With the counters of others as they are now.
    const proposal = { limit: { layer: 'personal', window: '1h', tokens: 1_000 } }
    expect((await ask(gateway, { proposal })).body.proposed.binding).toMatchObject({ layer: 'site' })
  })

  it('users without requests are explained, and invalid questions are rejected', async () => {
    const gateway = await testGateway()
    expect((await ask(gateway, {}, 'admin')).body).toMatchObject({ operation: 'user.data', now: { allowed: true } })
    expect((await ask(gateway, {}, 'nobody')).status).toBe(404)
    const custom = await ask(gateway, { proposal: { mode: 'custom' } })
    expect([custom.status, custom.body.error]).toEqual([422, 'validation_failed'])
    const shared = await ask(gateway, { proposal: { limit: { layer: 'site', window: '1h', tokens: 1 } } })
    expect(shared.body.details).toEqual([{ path: 'proposal.limit.layer', msg: 'expected personal' }])
  })

  it('a decision over a thousand requests lets other requests run in between', async () => {
    const { version: _, revision: _revision, ...settings } = initialSettings(gatewayPolicy)
    const until = { overrides: null, plan: null }
    const personal = { overrides: {}, bypass: [], plan: null, until, anchor: null }
    const record = { userId: 'u', operation: 'music.upsert', category: 'write', cost: 15, charged: 15, status: 200 }
    const records = Array.from({ length: 1_000 }, (_each, index) => {
      return { id: `${index}`, at: START + index * 60_000, error: null, settingsVersion: 0, refusal: null, ...record }
    })
    let turns = 0
    let isDone = false
    const count = (): void => {
      turns++
      if (!isDone) setImmediate(count)
    }
    count()
    const rules = { settings, subjects: { personal } }
    const parts = { policy: gatewayPolicy, userId: 'u', rules, factor: undefined }
    const replayed = await replay(parts, records)
    isDone = true
    expect(replayed).toHaveLength(1_000)
    // 600 tokens a day are 40 writes.
    expect(replayed.filter(({ binding }) => binding === null)).toHaveLength(40)
    expect(turns).toBeGreaterThan(15)
  })
})
