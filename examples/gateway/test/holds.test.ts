import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, START } from './support/gateway.ts'
import { sourceGateway } from './support/source-gateway.ts'
import { held, lxScores } from './support/source-server.ts'

const QUOTA = '/admin/users/demo/quota'

describe('open holds', () => {
  const env = { QUOTA_MAX_CONCURRENT_IMPORTS: '1' }

  it('an import holds a slot until it ends, and administrators can see and release it', async () => {
    const gateway = await sourceGateway({ env })
    const call = (method: string, path: string) => gateway.send(method, path, { token: ADMIN_TOKEN })
    const readLimits = async (): Promise<Record<string, unknown>[]> =>
      (await call('GET', `${QUOTA}/status`)).body.windows.read
    const waiting = held(lxScores())
    gateway.lx.answer(waiting.answer)
    const first = gateway.updateLx()
    await expect.poll(async () => (await call('GET', `${QUOTA}/holds`)).body.items.length).toBe(1)
    const [hold] = (await call('GET', `${QUOTA}/holds`)).body.items
    expect(hold).toMatchObject({
      operation: 'source.lx',
      category: 'read',
      tokens: 5,
      slot: true,
      takenAt: new Date(START).toISOString(),
    })
    const status = await readLimits()
    expect(status.find(({ window }) => window === 'imports')).toMatchObject({ kind: 'concurrency', limit: 1, used: 1 })
    expect(status.find(({ window }) => window === '1h')).toMatchObject({ used: 5, held: 5 })

    const second = await gateway.updateFish()
    expect([second.status, second.body.quota, second.headers.get('Retry-After')]).toMatchObject([
      429,
      { window: 'imports', limit: 1, used: 1, requested: 1 },
      '1',
    ])
    expect((await call('DELETE', `${QUOTA}/holds/nothing`)).status).toBe(404)
    const released = await call('DELETE', `${QUOTA}/holds/${hold.ref}`)
    expect([released.status, (await call('GET', `${QUOTA}/holds`)).body]).toEqual([204, { items: [] }])
    expect((await call('DELETE', `${QUOTA}/holds/${hold.ref}`)).status).toBe(404)
    const [entry, ...older] = (await call('GET', '/admin/audit')).body.items
    expect(entry).toMatchObject({ action: 'hold.release', subject: 'demo', by: 'admin', before: hold, after: null })
    expect(older.filter(({ action }: { action: string }) => action === 'hold.release')).toEqual([])
    const after = await readLimits()
    expect(after.find(({ window }) => window === '1h')).toMatchObject({ used: 0 })
    waiting.release()
    expect((await first).status).toBe(200)
  })
})
