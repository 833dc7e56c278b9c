import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, ENTRY, START, testGateway } from './support/gateway.ts'

const QUOTA = '/admin/users/demo/quota'

describe('open holds', () => {
  it('an upload in parts holds its tokens, and administrators can see and release them', async () => {
    const { send } = await testGateway()
    const call = (method: string, path: string) => send(method, path, { token: ADMIN_TOKEN })
    const { sessionId } = (await send('POST', '/v1/upsert/session', { body: {} })).body.businessData
    expect((await send('POST', '/v1/music/upsert', { body: { sessionId, musicList: [ENTRY] } })).status).toBe(200)
    const [hold, ...others] = (await call('GET', `${QUOTA}/holds`)).body.items
    expect(others).toEqual([])
    expect(hold).toMatchObject({
      operation: 'music.upsert',
      category: 'write',
      tokens: 15,
      slot: false,
      takenAt: new Date(START).toISOString(),
    })
    const hour = async () => (await call('GET', `${QUOTA}/status`)).body.windows.write[0]
    expect(await hour()).toMatchObject({ window: '1h', used: 15, held: 15 })

    expect((await call('DELETE', `${QUOTA}/holds/nothing`)).status).toBe(404)
    const released = await call('DELETE', `${QUOTA}/holds/${hold.ref}`)
    expect([released.status, (await call('GET', `${QUOTA}/holds`)).body]).toEqual([204, { items: [] }])
    expect((await call('DELETE', `${QUOTA}/holds/${hold.ref}`)).status).toBe(404)
    const [entry, ...older] = (await call('GET', '/admin/audit')).body.items
    expect(entry).toMatchObject({ action: 'hold.release', subject: 'demo', by: 'admin', before: hold, after: null })
    expect(older.filter(({ action }: { action: string }) => action === 'hold.release')).toEqual([])
    expect(await hour()).toMatchObject({ used: 0 })
    const late = await send('POST', '/v1/upsert/check', { body: { sessionId } })
    expect([late.status, late.body.error]).toEqual([409, 'session_expired'])
  })
})
