import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import * as testkit from '../src/index.ts'

it('exports these values and no others', () => {
  expect(Object.keys(testkit).sort()).toEqual([
    'CONFORMANCE_CASES',
    'FACTOR_STORE_CASES',
    'OUTCOME_STORE_CASES',
    'QuotaModel',
    'SCENES',
    'SETTINGS_STORE_CASES',
    'checkPromises',
    'describeFactorStore',
    'describeOutcomeStore',
    'describeSettingsStore',
    'describeStore',
    'manualClock',
    'quotaCommands',
    'runCase',
    'runEditHistories',
    'runHistories',
    'runHistory',
    'runHoldHistories',
    'runPortCase',
    'runSettingsCase',
  ])
})

it('exports these types and no others', () => {
  const index = readFileSync(join(import.meta.dirname, '../src/index.ts'), 'utf8')
  const types = [...index.matchAll(/\btype (\w+)/g)].map(([, name]) => name)
  expect(types.sort()).toEqual([
    'CaseContext',
    'ConformanceCase',
    'HistoryOptions',
    'ManualClock',
    'ModelAnswer',
    'ModelCalendar',
    'ModelCommit',
    'ModelOptions',
    'ModelRequest',
    'ModelReservation',
    'ModelReserveRequest',
    'Need',
    'PortCase',
    'PortFactory',
    'PortHarness',
    'PromiseCounts',
    'QuotaCommand',
    'RowName',
    'Scene',
    'SettingsCapability',
    'SettingsCase',
    'SettingsContext',
    'SettingsFactory',
    'SettingsHarness',
    'StoreAbility',
    'StoreCapability',
    'StoreFactory',
    'StoreHarness',
    'StoreWishes',
    'TestRunner',
  ])
})
