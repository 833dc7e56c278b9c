import { cellsIn, windowCell } from '@scoregw/quota/internal'
import { idPlaces, rowPlaces, Scratch, type StoreSchema } from '@scoregw/quota/store'
import { describe, expect, it } from 'vitest'

const HOUR = windowCell({ label: '1h', lengthMs: 3_600_000 })
const cells = cellsIn(['tokens'], [HOUR])
const SCHEMA: StoreSchema = {
  units: ['tokens'],
  layers: [
    { name: 'personal', shared: false, cells },
    { name: 'site', shared: true, cells },
  ],
  sets: [[0, 1]],
}

describe('places of rows and ids', () => {
  it('a decision has one row per layer', () => {
    expect(rowPlaces(SCHEMA, { subject: { personal: 'u' }, set: 0, layers: [1, 0] })).toEqual([
      { layer: 'site', key: '' },
      { layer: 'personal', key: 'u' },
    ])
  })

  it('only a request with an id has a place for it', () => {
    expect(idPlaces(SCHEMA, { subject: 'u', id: { id: 'a' } })).toEqual([{ by: 'personal', owner: 'u', id: 'a' }])
    expect(idPlaces(SCHEMA, { subject: 'u' })).toEqual([])
  })
})

it('a row without known cells counts from the first step', () => {
  for (const rows of [1, 3, 1_500]) {
    const scratch = new Scratch()
    scratch.begin(1_000_000)
    const places = Array.from({ length: rows }, (_, n) => ({ layer: 'personal', key: `u${n}` }))
    for (const place of places) scratch.putRow(place, [['of another version', 5, 5]])
    const counters = scratch.open(SCHEMA)
    for (const { key } of places) {
      const quotas = { layers: [0], limits: [10] }
      const { states } = counters.take({ subject: key, set: 0, quotas, costs: [9, 0] })
      expect([...states]).toEqual([1_000_000, 9, -1, 0])
    }
    for (const place of places) expect(scratch.row(place)).toEqual([[HOUR.identity, 1_000_000, 9]])
  }
})
