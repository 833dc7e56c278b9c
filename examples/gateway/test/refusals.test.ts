import { describe, expect, it } from 'vitest'
import { databaseOf, ENTRY, testGateway } from './support/gateway.ts'
import { ACCESS } from './support/refusals/access.ts'
import { ADMINISTRATORS } from './support/refusals/administrators.ts'
import { BODIES } from './support/refusals/bodies.ts'
import { one, UPSERT } from './support/refusals/case.ts'
import { FIELDS } from './support/refusals/fields.ts'

const CASES = [...BODIES, ...FIELDS, ...ACCESS, ...ADMINISTRATORS]

describe('requests that can’t be served', () => {
  it('a request that can’t be served gets its error and changes neither quota nor data', async () => {
    const { send, dataDir } = await testGateway()
    await send('POST', UPSERT, { body: { musicList: [{ ...ENTRY, musicId: 103 }] } })
    await send('POST', '/v1/user/music')
    const look = async (): Promise<unknown> => [databaseOf(dataDir), (await send('GET', '/me/quota')).body]
    const before = await look()
    for (const { name, method = 'POST', path = UPSERT, options, status, error, paths, headers = {} } of CASES) {
      const answer = await send(method, path, options)
      expect([answer.status, answer.body?.error], name).toEqual([status, error])
      expect(Object.keys(answer.body).sort(), name).toEqual(
        paths === undefined && answer.body.details === undefined
          ? ['error', 'msg', 'requestId']
          : ['details', 'error', 'msg', 'requestId'],
      )
      expect(answer.body.requestId, name).toBe(answer.headers.get('X-Request-Id'))
      if (paths !== undefined)
        expect(answer.body.details.map((each: { path: string }) => each.path).sort(), name).toEqual(paths)
      for (const [header, value] of Object.entries(headers)) expect(answer.headers.get(header), name).toBe(value)
      expect(JSON.stringify(answer.body), name).not.toMatch(/node_modules|\bat \/|gw_/)
      expect(await look(), name).toEqual(before)
    }
  })

  it('a request’s faults are reported before the quota is charged', async () => {
    const { send, gateway } = await testGateway()
    await gateway.app.quota.subjects.set('demo', { limits: { 'personal-write-1h': 0 } })
    expect((await send('POST', UPSERT, one({}))).status).toBe(429)
    expect((await send('POST', UPSERT, one({ musicId: 999 }))).status).toBe(422)
    expect((await send('POST', UPSERT, { text: '{' })).status).toBe(400)
    expect((await send('GET', UPSERT)).status).toBe(405)
    expect((await send('POST', UPSERT, { ...one({}), token: null })).status).toBe(401)
  })
})
