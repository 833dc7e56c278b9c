import { cellsIn, idPlaces, rowPlaces, Scratch, type StoreSchema, windowCell } from '@scoregw/quota/store'
import { describe, expect, it } from 'vitest'

const HOUR = windowCell({ label: '1h', lengthMs: 3_600_000 })
const SCHEMA: StoreSchema = {
  units: ['tokens'],
  cells: cellsIn(['tokens'], [HOUR]),
  categories: ['read', 'write'],
  layers: [
    { name: 'personal', shared: false },
    { name: 'site', shared: true },
  ],
}

describe('places of rows and ids', () => {
  it('a decision has one row per layer and category', () => {
    expect(rowPlaces(SCHEMA, { personal: 'u' }, [1, 0], [1, 0])).toEqual([
      { layer: 'site', category: 'write', key: '' },
      { layer: 'site', category: 'read', key: '' },
      { layer: 'personal', category: 'write', key: 'u' },
      { layer: 'personal', category: 'read', key: 'u' },
    ])
  })

  it('only a request with an id has a place for it', () => {
    expect(idPlaces(SCHEMA, { subject: 'u', category: 1, id: { id: 'a' } })).toEqual([
      { category: 'write', owner: 'u', id: 'a' },
    ])
    expect(idPlaces(SCHEMA, { subject: 'u', category: 1 })).toEqual([])
  })
})

it('a row without known cells counts from the first step', () => {
  for (const rows of [1, 3, 1_500]) {
    const scratch = new Scratch()
    scratch.begin(1_000_000)
    const places = Array.from({ length: rows }, (_, n) => ({ layer: 'personal', category: 'read', key: `u${n}` }))
    for (const place of places) scratch.putRow(place, [['of another version', 5, 5]])
    const counters = scratch.open(SCHEMA)
    for (const { key } of places) {
      const quotas = { layers: [0], limits: [10] }
      const { states } = counters.take({ subject: key, category: 0, quotas, costs: [9, 0] })
      expect([...states]).toEqual([1_000_000, 9])
    }
    for (const place of places) expect(scratch.row(place)).toEqual([[HOUR.identity, 1_000_000, 9]])
  }
})
