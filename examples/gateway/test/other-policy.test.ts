import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import { gatewayPolicyOf, LAYERS, WINDOWS } from '../src/quota/policy.ts'
import { ADMIN_TOKEN, type Answer, ENTRY, HOUR_MS, type TestGateway, testGateway } from './support/gateway.ts'
import { shared } from './support/shared.ts'

const policy = gatewayPolicyOf(
  [...WINDOWS, { label: '7d', lengthMs: 168 * HOUR_MS, tokens: { read: 5_000, write: 2_500 } }],
  [
    ...LAYERS,
    { name: 'device', scope: 'Device', shared: false, times: { every: 2 } },
    { name: 'campus', scope: 'Campus', shared: true, times: { every: 10 } },
  ],
)
const LABELS = ['1h', '5h', '1d', '7d']
const NAMES = ['personal', 'site', 'device', 'campus']

const admin =
  ({ send }: TestGateway) =>
  (method: string, path: string, body?: unknown, ifMatch = '*'): Promise<Answer> =>
    send(method, path, {
      token: ADMIN_TOKEN,
      headers: { 'If-Match': ifMatch },
      ...(body === undefined ? {} : { body }),
    })

const upsert = ({ send }: TestGateway, dxScore: number): Promise<Answer> =>
  send('POST', '/v1/music/upsert', { body: { musicList: [{ ...ENTRY, dxScore }] } })

describe('a policy with another window and two more layers', () => {
  describe('custom windows and layers in use', () => {
    const campus = { enabled: true, multiplier: 0.25 }
    const own = { overrides: { write: { '7d': 31 } }, bypassSite: true, bypassCampus: false }
    const device = { overrides: { write: { '1h': 46 } } }
    const story = shared(async () => {
      const gateway = await testGateway({ policy })
      const call = admin(gateway)
      const described = (await call('GET', '/admin/quota/policy')).body
      const { version: _, ...settings } = (await call('GET', '/admin/quota/settings')).body
      const stored = await call('PUT', '/admin/quota/settings', { ...settings, campus })
      const { '7d': _week, ...threeWindows } = settings.base.personal.read
      const base = { ...settings.base, personal: { ...settings.base.personal, read: threeWindows } }
      const incomplete = await call('PUT', '/admin/quota/settings', { ...settings, base, campus: undefined })
      const overridden = await call('PUT', '/admin/users/demo/quota', own)
      await call('PUT', '/admin/users/demo/quota?layer=device', device)
      const byLayer = {
        device: (await call('GET', '/admin/users/demo/quota?layer=device')).body,
        personal: (await call('GET', '/admin/users/demo/quota')).body,
        site: await call('GET', '/admin/users/demo/quota?layer=site'),
      }
      const { windows } = (await call('GET', '/admin/users/demo/quota/status')).body
      const upserts = [await upsert(gateway, 1), await upsert(gateway, 2), await upsert(gateway, 3)]
      const reset = await call('POST', '/admin/users/demo/quota/reset', { layer: 'campus' })
      const trail = (await call('GET', '/admin/audit')).body.items.at(-1)
      return { described, settings, stored, incomplete, overridden, byLayer, windows, upserts, reset, trail }
    })

    it('the policy describes custom windows and layers', () => {
      const { described } = story()
      expect(described.windows.map(({ label }: { label: string }) => label)).toEqual(LABELS)
      const limits = { read: LABELS, write: LABELS }
      expect(described.layers).toEqual([
        { name: 'personal', scope: 'Personal', shared: false, limits },
        { name: 'site', scope: 'Site', shared: true, bypass: 'bypassSite', limits },
        { name: 'device', scope: 'Device', shared: false, limits },
        { name: 'campus', scope: 'Campus', shared: true, bypass: 'bypassCampus', limits },
      ])
    })

    it('the settings have members and limits for custom windows and layers', () => {
      const { settings } = story()
      const members = ['mode', 'base', 'custom', 'site', 'campus', 'prices', 'shadow', 'plans', 'thresholds']
      expect(Object.keys(settings)).toEqual(members)
      expect(Object.keys(settings.base)).toEqual(NAMES)
      expect(settings.base.campus).toEqual({
        read: { '1h': 1_200, '5h': 4_000, '1d': 12_000, '7d': 50_000 },
        write: { '1h': 600, '5h': 2_000, '1d': 6_000, '7d': 25_000 },
      })
    })

    it('the multiplier of a custom layer can be changed', () => {
      const { stored } = story()
      expect([stored.status, stored.body.campus]).toEqual([200, campus])
    })

    it('settings without a custom window or layer are rejected with its path', () => {
      const { details } = story().incomplete.body
      expect(details.map(({ path }: { path: string }) => path)).toEqual(['base.personal.read.7d', 'campus'])
    })

    it('a user can have overrides and bypasses for custom windows and layers', () => {
      const { overridden, byLayer } = story()
      expect(overridden.body).toMatchObject(own)
      expect(byLayer.device).toMatchObject(device)
      expect(byLayer.personal).toMatchObject(own)
    })

    it('a user has no settings in a shared layer', () => {
      expect(story().byLayer.site.status).toBe(422)
    })

    it('a user’s status lists custom windows and layers, without the bypassed site', () => {
      const { write } = story().windows
      expect(write.map((each: Record<string, unknown>) => [each.layer, each.window, each.limit])).toEqual([
        ...[60, 200, 600, 31].map((limit, index) => ['personal', LABELS[index], limit]),
        ...[46, 400, 1_200, 5_000].map((limit, index) => ['device', LABELS[index], limit]),
        ...[150, 500, 1_500, 6_250].map((limit, index) => ['campus', LABELS[index], limit]),
      ])
    })

    it('a custom window refuses above its limit', () => {
      const [first, second, full] = story().upserts
      expect([first?.status, second?.status]).toEqual([200, 200])
      expect([full?.status, full?.body.quota]).toMatchObject([
        429,
        { scope: 'Personal', window: '7d', limit: 31, used: 30 },
      ])
    })

    it('a reset of a custom layer leaves the others', () => {
      const { write } = story().reset.body.windows
      expect(write.map(({ used }: { used: number }) => used)).toEqual([
        ...Array<number>(8).fill(30),
        ...Array<number>(4).fill(0),
      ])
    })

    it('the audit trail has custom windows and layers', () => {
      expect(story().trail.after).toMatchObject({ campus, base: { device: { write: { '7d': 5_000 } } } })
    })
  })

  it('custom windows and layers appear in the reference, which passes the linter', async () => {
    const gateway = await testGateway({ policy })
    const document = (await gateway.send('GET', '/openapi.json', { token: null })).body
    const { schemas, headers, responses } = document.components
    expect(schemas.WindowTokens.required).toEqual(LABELS)
    expect(schemas.QuotaTable.required).toEqual(NAMES)
    expect(schemas.ReplaceSettingsBody.required).toEqual(['mode', 'base', 'custom', 'site', 'campus', 'prices'])
    expect(schemas.ReplaceUserQuotaAnswer.required).toContain('bypassCampus')
    expect(schemas.WindowStatus.properties.scope.description).toBe('`Personal`, `Site`, `Device` or `Campus`.')
    expect(document.info.description).toContain('1 hour, 5 hours, 1 day, 7 days')
    expect(headers['RateLimit-Policy'].example).toContain('"campus-7d";q=25000;w=604800')
    expect(responses.QuotaExceededOrTooManyFailures.content['application/json'].example.quota.used).toBe(60)
    const config = await createConfig({ extends: ['recommended'], rules: { 'operation-4xx-response': 'off' } })
    expect(await lintFromString({ source: JSON.stringify(document), config })).toEqual([])
    const { put } = document.paths['/admin/quota/settings']
    const { example } = put.requestBody.content['application/json']
    expect((await admin(gateway)('PUT', '/admin/quota/settings', example)).status).toBe(200)
  })

  it('custom windows and layers with taken names are rejected', async () => {
    const layer = (name: string) => ({ name, scope: name, shared: true, times: { every: 1 } })
    const of = (...names: string[]) => gatewayPolicyOf(WINDOWS, [...LAYERS, ...names.map(layer)])
    await expect(testGateway({ policy: of('prices') })).rejects.toThrow(/"prices" is another member/)
    await expect(testGateway({ policy: of('campus', 'Campus') })).rejects.toThrow(
      /"campus" has the member bypassCampus/,
    )
  })
})
