import { expect, it } from 'vitest'
import { checkShards } from '../src/shards.ts'

const schemaOf = (...layers: { readonly name: string; readonly shared: boolean }[]) => {
  return { units: ['tokens'], layers: layers.map((layer) => ({ ...layer, cells: [] })), sets: [[]] }
}
const [user, team, site] = [
  { name: 'user', shared: false },
  { name: 'team', shared: false },
  { name: 'site', shared: true },
]

it('shardBy accepts only layers whose counters each object has completely', () => {
  expect(() => checkShards(schemaOf(user, team), 'team')).not.toThrow()
  expect(() => checkShards(schemaOf(user, team, site), 'team')).toThrow(
    'durableObjectStore(): shardBy "team": layer "site" is shared, but no object has all of its counters. Leave shardBy out, or define the policy without "site"',
  )
  for (const name of ['site', 'tenant']) {
    expect(() => checkShards(schemaOf(user, team, site), name)).toThrow(
      expect.objectContaining({
        code: 'store_unsupported',
        message: expect.stringContaining('expected a layer of subjects: user, team'),
      }),
    )
  }
})
