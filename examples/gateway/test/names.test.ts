import { parsePolicy } from '@scoregw/quota'
import { initialSettings } from '@scoregw/quota/internal'
import { describe, expect, it } from 'vitest'
import { limitsIn, namedOf, pathOf, placeOf, policyDefinition, tableOf } from '../src/quota/names.ts'
import { policy } from '../src/quota/policy.ts'

describe('names of limits', () => {
  it('the policy’s limits are the specification’s table, and back', () => {
    const { limits } = initialSettings(policy)
    const table = tableOf(limits, 0)
    expect(table).toEqual({
      personal: { read: { '1h': 120, '5h': 400, '1d': 1_200 }, write: { '1h': 60, '5h': 200, '1d': 600 } },
      site: { read: { '1h': 3_000, '5h': 10_000, '1d': 36_000 }, write: { '1h': 1_500, '5h': 5_000, '1d': 18_000 } },
    })
    expect(namedOf(table)).toEqual(limits)
  })

  it('a part of a table has the names of that part', () => {
    expect(namedOf({ personal: { write: { '5h': 0 } } })).toEqual({ 'personal-write-5h': 0 })
    expect(tableOf({ 'site-read-1d': 7 }, null)).toMatchObject({ site: { read: { '1h': null, '1d': 7 } } })
  })

  it('every name of the policy has a place', () => {
    const names = policy.limits.map(({ name }) => name)
    expect([...limitsIn('personal'), ...limitsIn('site')]).toEqual(names)
    expect(limitsIn('site', 'write')).toEqual(['site-write-1h', 'site-write-5h', 'site-write-1d'])
    expect(placeOf('site-write-5h')).toMatchObject({ layer: 'site', scope: 'Site', category: 'write', window: '5h' })
    expect(() => placeOf('site-write-2h')).toThrow('the policy has no limit site-write-2h')
  })

  it.each([
    ['limits.personal-read-1h', 'base.personal.read.1h'],
    ['custom.site-write-1d', 'custom.site.write.1d'],
    ['limits.unknown', 'base.unknown'],
    ['shared.site.multiplier', 'site.multiplier'],
    ['prices.music.upsert', 'prices.music.upsert'],
    ['limits', 'base'],
    ['shared', 'site'],
  ])('the library’s path %s is %s in the settings document', (path, ours) => {
    expect(pathOf(path)).toBe(ours)
  })

  it('the exported policy is the gateway’s, for tools that read policies', () => {
    const { answers: _, ...rules } = policy
    expect(parsePolicy(JSON.parse(JSON.stringify(policyDefinition())))).toEqual(rules)
  })
})
