import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, databaseOf, ENTRY, type SendOptions, testGateway } from './support/gateway.ts'

interface Case {
  readonly name: string
  readonly method?: string
  readonly path?: string
  readonly options: SendOptions
  readonly status: number
  readonly error: string
  readonly paths?: readonly string[]
  readonly headers?: Record<string, string | null>
}

const UPSERT = '/v1/music/upsert'
const SETTINGS = '/admin/quota/settings'
const one = (change: object): SendOptions => ({ body: { musicList: [{ ...ENTRY, ...change }] } })
const admin = (options: SendOptions = {}): SendOptions => ({ token: ADMIN_TOKEN, ...options })
const twenty = Array.from({ length: 21 }, () => ENTRY)

const table = (tokens: number): object => ({ '1h': tokens, '5h': tokens, '1d': tokens })
const layer = (tokens: number): object => ({ read: table(tokens), write: table(tokens) })
const settings = {
  mode: 'normal',
  base: { personal: layer(100), site: layer(1000) },
  custom: null,
  site: { enabled: true, multiplier: 1 },
  prices: {},
}
const put = (change: object, headers: Record<string, string> = { 'If-Match': '"0"' }): SendOptions =>
  admin({ headers, body: { ...settings, ...change } })

const CASES: readonly Case[] = [
  // Bodies
  { name: 'not JSON', options: { text: '{"musicList":' }, status: 400, error: 'bad_request' },
  { name: 'a JSON text that is no object', options: { text: '5' }, status: 400, error: 'bad_request' },
  { name: 'nested too deep', options: { text: '['.repeat(500_000) }, status: 400, error: 'bad_request' },
  {
    name: 'not UTF-8',
    options: { text: '{}', headers: { 'Content-Type': 'application/json; charset=latin1' } },
    status: 415,
    error: 'unsupported_media_type',
  },
  {
    name: 'a wrong content type',
    options: { text: '{}', headers: { 'Content-Type': 'text/plain' } },
    status: 415,
    error: 'unsupported_media_type',
  },
  {
    name: 'a form',
    options: { text: 'a=1', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    status: 415,
    error: 'unsupported_media_type',
  },
  {
    name: 'a body too large',
    options: { body: { pad: 'x'.repeat(1_048_576) } },
    status: 413,
    error: 'payload_too_large',
  },
  {
    name: 'a body too large of a wrong type',
    options: { text: 'x'.repeat(1_048_577), headers: { 'Content-Type': 'text/plain' } },
    status: 413,
    error: 'payload_too_large',
  },
  {
    name: 'packed',
    options: { text: 'x', headers: { 'Content-Encoding': 'gzip' } },
    status: 415,
    error: 'unsupported_media_type',
  },
  { name: 'no body', options: {}, status: 422, error: 'validation_failed', paths: ['musicList'] },
  // Fields
  {
    name: 'a list of another type',
    options: { body: { musicList: 'all' } },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList'],
  },
  { name: 'an array as the body', options: { body: [ENTRY] }, status: 422, error: 'validation_failed', paths: [''] },
  {
    name: 'an empty list',
    options: { body: { musicList: [] } },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList'],
  },
  { name: '21 entries', options: { body: { musicList: twenty } }, status: 422, error: 'validation_failed' },
  {
    name: 'everything wrong in one entry',
    options: one({
      musicId: '101',
      level: 5,
      achievement: 5000,
      dxScore: -1,
      comboStatus: 'best',
      syncStatus: 9,
      fuzzy: 'no',
    }),
    status: 422,
    error: 'validation_failed',
    paths: ['achievement', 'comboStatus', 'dxScore', 'fuzzy', 'level', 'musicId', 'syncStatus'].map(
      (name) => `musicList.0.${name}`,
    ),
  },
  {
    name: 'faults in two entries',
    options: {
      body: {
        musicList: [
          { ...ENTRY, level: 9 },
          { ...ENTRY, dxScore: 1.5 },
        ],
      },
    },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.level', 'musicList.1.dxScore'],
  },
  {
    name: 'an achievement between the two forms',
    options: one({ achievement: 101.0001 }),
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.achievement'],
  },
  {
    name: 'the same chart twice',
    options: { body: { musicList: [ENTRY, { ...ENTRY, achievement: 99 }] } },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.1'],
  },
  {
    name: 'an unknown chart',
    options: one({ musicId: 999 }),
    status: 422,
    error: 'unknown_chart',
    paths: ['musicList.0'],
  },
  {
    name: 'one unknown chart among good ones',
    options: { body: { musicList: [ENTRY, { ...ENTRY, level: 4 }] } },
    status: 422,
    error: 'unknown_chart',
    paths: ['musicList.1'],
  },
  {
    name: 'a DX score too high',
    options: one({ dxScore: 1573 }),
    status: 422,
    error: 'dx_score_too_high',
    paths: ['musicList.0.dxScore'],
  },
  {
    name: 'a DX score beyond any',
    options: one({ musicId: 100_108, level: 10, dxScore: 100_000 }),
    status: 422,
    error: 'dx_score_too_high',
    paths: ['musicList.0.dxScore'],
  },
  {
    name: 'six stars',
    options: one({ dxScore: 6, fuzzy: true }),
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.dxScore'],
  },
  {
    name: 'stars of a chart whose maximum is not known',
    options: one({ musicId: 100_108, level: 10, dxScore: 5, fuzzy: true }),
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.dxScore'],
  },
  {
    name: 'deleting the same chart twice',
    path: '/v1/music/delete',
    options: {
      body: {
        musicList: [
          { musicId: 101, level: 3 },
          { musicId: 101, level: 3 },
        ],
      },
    },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.1'],
  },
  {
    name: 'deleting half a pair',
    path: '/v1/music/delete',
    options: { body: { musicId: 101 } },
    status: 422,
    error: 'validation_failed',
    paths: ['musicList.0.level'],
  },
  // Credentials
  {
    name: 'no token',
    options: { ...one({}), token: null },
    status: 401,
    error: 'unauthorized',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  {
    name: 'a wrong token',
    options: { ...one({}), token: `gw_${'A'.repeat(43)}` },
    status: 401,
    error: 'unauthorized',
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  },
  {
    name: 'a token that is no gateway token',
    options: { ...one({}), token: 'mk_0123456789' },
    status: 401,
    error: 'unauthorized',
  },
  {
    name: 'another scheme',
    options: { ...one({}), token: null, headers: { Authorization: 'Basic ZGVtbzpkZW1v' } },
    status: 401,
    error: 'unauthorized',
  },
  {
    name: 'an overlong credential',
    options: { ...one({}), token: `gw_${'A'.repeat(9_000)}` },
    status: 401,
    error: 'unauthorized',
  },
  { name: 'no token at an unknown path', path: '/nope', options: { token: null }, status: 401, error: 'unauthorized' },
  { name: 'no token and no JSON', options: { token: null, text: '{' }, status: 401, error: 'unauthorized' },
  // Paths and methods
  { name: 'an unknown path', path: '/v1/nope', options: {}, status: 404, error: 'not_found' },
  { name: 'a path in capitals', path: '/V1/MUSIC/UPSERT', options: one({}), status: 404, error: 'not_found' },
  { name: 'a path with a slash too many', path: `${UPSERT}/`, options: one({}), status: 404, error: 'not_found' },
  {
    name: 'broken percent-encoding',
    method: 'GET',
    path: '/admin/users/%E0%A4%A/quota',
    options: admin(),
    status: 400,
    error: 'bad_request',
  },
  {
    name: 'a wrong method',
    method: 'GET',
    options: {},
    status: 405,
    error: 'method_not_allowed',
    headers: { Allow: 'OPTIONS, POST' },
  },
  {
    name: 'a wrong method and no JSON',
    method: 'PUT',
    options: { text: '{' },
    status: 405,
    error: 'method_not_allowed',
  },
  {
    name: 'a wrong method at a public path',
    method: 'POST',
    path: '/v1/health',
    options: { token: null },
    status: 405,
    error: 'method_not_allowed',
    headers: { Allow: 'GET, HEAD, OPTIONS' },
  },
  // Administrators
  { name: 'settings read by a player', method: 'GET', path: SETTINGS, options: {}, status: 403, error: 'forbidden' },
  {
    name: 'settings changed by a player',
    method: 'PUT',
    path: SETTINGS,
    options: { body: settings, headers: { 'If-Match': '"0"' } },
    status: 403,
    error: 'forbidden',
  },
  {
    name: 'an unknown path of administrators, by a player',
    path: '/admin/nope',
    options: {},
    status: 403,
    error: 'forbidden',
  },
  {
    name: 'a path of administrators in capitals, by a player',
    method: 'GET',
    path: '/ADMIN/quota/settings',
    options: {},
    status: 403,
    error: 'forbidden',
  },
  {
    name: "a player's own quota set by the player",
    method: 'PUT',
    path: '/admin/users/demo/quota',
    options: { body: { bypassSite: true } },
    status: 403,
    error: 'forbidden',
  },
  {
    name: "a player's own quota reset by the player",
    path: '/admin/users/demo/quota/reset',
    options: {},
    status: 403,
    error: 'forbidden',
  },
  {
    name: 'settings without If-Match',
    method: 'PUT',
    path: SETTINGS,
    options: put({}, {}),
    status: 428,
    error: 'precondition_required',
  },
  {
    name: 'settings with a stale If-Match',
    method: 'PUT',
    path: SETTINGS,
    options: put({}, { 'If-Match': '"7"' }),
    status: 412,
    error: 'precondition_failed',
    headers: { ETag: '"0"' },
  },
  {
    name: 'settings with a weak If-Match',
    method: 'PUT',
    path: SETTINGS,
    options: put({}, { 'If-Match': 'W/"0"' }),
    status: 412,
    error: 'precondition_failed',
  },
  {
    name: 'settings with an If-Match of another form',
    method: 'PUT',
    path: SETTINGS,
    options: put({}, { 'If-Match': 'newest' }),
    status: 400,
    error: 'bad_request',
  },
  {
    name: 'a multiplier out of range',
    method: 'PUT',
    path: SETTINGS,
    options: put({ site: { enabled: true, multiplier: 4.01 } }),
    status: 422,
    error: 'validation_failed',
    paths: ['site.multiplier'],
  },
  {
    name: 'a multiplier with three decimals',
    method: 'PUT',
    path: SETTINGS,
    options: put({ site: { enabled: true, multiplier: 1.001 } }),
    status: 422,
    error: 'validation_failed',
    paths: ['site.multiplier'],
  },
  {
    name: 'mode custom without its table',
    method: 'PUT',
    path: SETTINGS,
    options: put({ mode: 'custom' }),
    status: 422,
    error: 'validation_failed',
    paths: ['custom'],
  },
  {
    name: 'settings with many faults',
    method: 'PUT',
    path: SETTINGS,
    options: put({
      version: 0,
      mode: 'custom',
      prices: { 'music.upsert': -1, fly: 1 },
      site: { enabled: 'yes', multiplier: 0.2, extra: 1 },
      base: { personal: { read: { ...table(1), '1h': 1.5 }, write: { '1h': 1, '5h': 10 ** 12 } }, site: layer(1) },
    }),
    status: 422,
    error: 'validation_failed',
    paths: [
      'base.personal.read.1h',
      'base.personal.write.1d',
      'base.personal.write.5h',
      'custom',
      'prices.fly',
      'prices.music.upsert',
      'site.enabled',
      'site.extra',
      'site.multiplier',
      'version',
    ],
  },
  {
    name: 'the quota of an unknown user',
    method: 'GET',
    path: '/admin/users/nobody/quota',
    options: admin(),
    status: 404,
    error: 'not_found',
  },
  {
    name: 'setting the quota of an unknown user',
    method: 'PUT',
    path: '/admin/users/nobody/quota',
    options: admin({ body: {} }),
    status: 404,
    error: 'not_found',
  },
  {
    name: 'the status of an unknown user',
    method: 'GET',
    path: '/admin/users/nobody/quota/status',
    options: admin(),
    status: 404,
    error: 'not_found',
  },
  {
    name: 'resetting an unknown user',
    path: '/admin/users/nobody/quota/reset',
    options: admin(),
    status: 404,
    error: 'not_found',
  },
  {
    name: 'overrides with faults',
    method: 'PUT',
    path: '/admin/users/demo/quota',
    options: admin({ body: { overrides: { read: { '1h': -1, '2h': 1 }, writ: {} }, bypass: true } }),
    status: 422,
    error: 'validation_failed',
    paths: ['bypass', 'overrides.read.1h', 'overrides.read.2h', 'overrides.writ'],
  },
  {
    name: 'overrides with a stale If-Match',
    method: 'PUT',
    path: '/admin/users/demo/quota',
    options: admin({ body: {}, headers: { 'If-Match': '"3"' } }),
    status: 412,
    error: 'precondition_failed',
  },
  {
    name: 'resetting a layer that is not there',
    path: '/admin/users/demo/quota/reset',
    options: admin({ body: { layer: 'team' } }),
    status: 422,
    error: 'validation_failed',
    paths: ['layer'],
  },
]

describe('a request that cannot be served', () => {
  it('gets the right error, and leaves quota and data as they were', async () => {
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

  it('is told what is wrong before it is told that the quota is used up', async () => {
    const { send, gateway } = await testGateway()
    await gateway.app.quota.subjects.set('demo', { overrides: { write: { '1h': 0 } } })
    expect((await send('POST', UPSERT, one({}))).status).toBe(429)
    expect((await send('POST', UPSERT, one({ musicId: 999 }))).status).toBe(422)
    expect((await send('POST', UPSERT, { text: '{' })).status).toBe(400)
    expect((await send('GET', UPSERT)).status).toBe(405)
    expect((await send('POST', UPSERT, { ...one({}), token: null })).status).toBe(401)
  })
})
