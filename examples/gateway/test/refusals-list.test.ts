import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, type Answer, ENTRY, HOUR_MS, START, testGateway } from './support/gateway.ts'

const upsert = { body: { musicList: [ENTRY] } }

describe('the list of refusals', () => {
  it('refusals are grouped by user and limit, newest first, with the reason of the last, for a day', async () => {
    const { send, clock } = await testGateway()
    const list = (query = ''): Promise<Answer> => send('GET', `/admin/refusals${query}`, { token: ADMIN_TOKEN })
    expect((await list()).body).toEqual({ since: new Date(START - 24 * HOUR_MS).toISOString(), refusals: [] })
    for (let each = 0; each < 6; each++) await send('POST', '/v1/music/upsert', upsert)
    clock.advance(60_000)
    await send('PUT', '/admin/users/demo/quota', { token: ADMIN_TOKEN, body: { overrides: { read: { '1h': 1 } } } })
    await send('POST', '/v1/user/music')
    const byLimit = (name: string, count: number): object => ({ userId: 'demo', name, count })
    expect((await list()).body.refusals).toEqual([
      expect.objectContaining({ ...byLimit('personal-read-1h', 1), limit: 1, used: 0, requested: 4 }),
      {
        ...byLimit('personal-write-1h', 2),
        operation: 'music.upsert',
        limit: 60,
        used: 60,
        requested: 15,
        lastAt: new Date(START).toISOString(),
        resetAt: new Date(START + HOUR_MS).toISOString(),
      },
    ])
    clock.advance(24 * HOUR_MS - 60_000)
    expect((await list()).body.refusals).toHaveLength(2)
    clock.advance(1)
    expect((await list()).body.refusals).toHaveLength(1)
    expect((await send('GET', '/admin/refusals')).status).toBe(403)
  })

  it('the refusals of one user are listed alone, and an empty id is rejected', async () => {
    const { send, gateway } = await testGateway()
    await gateway.app.users.create({ id: 'eve', name: 'Eve', role: 'player' })
    const issued = await send('POST', '/admin/users/eve/tokens', { token: ADMIN_TOKEN, body: {} })
    for (let each = 0; each < 5; each++) {
      await send('POST', '/v1/music/upsert', upsert)
      await send('POST', '/v1/music/upsert', { ...upsert, token: issued.body.token })
    }
    const usersIn = async (query: string): Promise<string[]> => {
      const { body } = await send('GET', `/admin/refusals${query}`, { token: ADMIN_TOKEN })
      return body.refusals.map(({ userId }: { userId: string }) => userId).sort()
    }
    expect(await usersIn('')).toEqual(['demo', 'eve'])
    expect(await usersIn('?userId=eve')).toEqual(['eve'])
    expect(await usersIn('?userId=nobody')).toEqual([])
    expect((await send('GET', '/admin/refusals?userId=', { token: ADMIN_TOKEN })).status).toBe(422)
  })
})
