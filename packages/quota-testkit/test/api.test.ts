import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as testkit from '../src/index.ts'
import * as model from '../src/model.ts'
import * as torture from '../src/torture.ts'

describe.each([
  {
    entry: 'index',
    exported: testkit,
    values: [
      'CONFORMANCE_CASES',
      'FACTOR_STORE_CASES',
      'OUTCOME_STORE_CASES',
      'SETTINGS_STORE_CASES',
      'describeFactorStore',
      'describeOutcomeStore',
      'describeSettingsStore',
      'describeStore',
      'manualClock',
      'missingOf',
      'runCase',
      'runStoreHistories',
    ],
    types: [
      'Case',
      'ConformanceCase',
      'Factory',
      'HistoryOptions',
      'ManualClock',
      'Need',
      'PortCase',
      'PortFactory',
      'PortHarness',
      'RowName',
      'SettingsCapability',
      'SettingsCase',
      'SettingsFactory',
      'SettingsHarness',
      'StoreAbility',
      'StoreCapability',
      'StoreFactory',
      'StoreHarness',
      'StoreWishes',
      'TestRunner',
    ],
  },
  {
    entry: 'model',
    exported: model,
    values: ['ModelCounters', 'ModelWindows', 'QuotaModel', 'copyOf', 'modelStore', 'utcCalendar'],
    types: [
      'ModelAmount',
      'ModelAnswer',
      'ModelCalendar',
      'ModelChange',
      'ModelCommit',
      'ModelCost',
      'ModelDecision',
      'ModelId',
      'ModelLimit',
      'ModelNumbers',
      'ModelOptions',
      'ModelRequest',
      'ModelReservation',
      'ModelReserveRequest',
      'ModelSpan',
      'ModelState',
      'ModelWindow',
    ],
  },
  {
    entry: 'torture',
    exported: torture,
    values: ['NotOffered', 'TORTURE_CASES', 'torture'],
    types: [
      'TortureAnswer',
      'TortureCase',
      'TortureFinding',
      'TortureLimit',
      'TortureLimiter',
      'TortureLimits',
      'TortureOptions',
      'TortureRequest',
    ],
  },
])('the exports of $entry', ({ entry, exported, values, types }) => {
  it('the entry exports these values and no others', () => {
    expect(Object.keys(exported).sort()).toEqual(values)
  })

  it('the entry exports these types and no others', () => {
    const text = readFileSync(join(import.meta.dirname, `../src/${entry}.ts`), 'utf8')
    const inTypes = [...text.matchAll(/\bexport type \{([^}]*)\}/g)].flatMap(
      ([, names = '']) => names.match(/\w+/g) ?? [],
    )
    const inline = [...text.matchAll(/(?:\btype|^export interface) (\w+)/gm)].map(([, name]) => name)
    expect([...new Set([...inTypes, ...inline])].sort()).toEqual(types)
  })
})
