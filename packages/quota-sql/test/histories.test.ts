import { postgresTests } from '@scoregw/postgres-server'
import { checkPromises, runHistories, TEN_SCENES, UNIT_SCENES } from '@scoregw/quota-histories'
import { runStoreHistories } from '@scoregw/quota-testkit'
import { testSeed } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { TestDatabase } from './support/database.ts'
import { postgresFactory } from './support/postgres-factory.ts'
import { sqliteFactory } from './support/sqlite-factory.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
/** Each has a database's answers to wait for: 1,000 in every run are played on the embedded store. */
const HISTORIES = { runs: deep ? 100_000 : 8, maxSteps: 30 }
const PROMISES = { runs: deep ? 20_000 : 8, maxSteps: 30 }
/** Of an engine over several units, and of ten policies as users write them. */
const UNITS = { runs: deep ? 5_000 : 8, maxSteps: 30 }
/** Of two policies and two processes, by the port alone. */
const OF_STORES = { runs: deep ? 5_000 : 20, seed: testSeed }
const TIMEOUT_MS = deep ? 14_400_000 : 300_000

const database = describe.runIf(postgresTests)
for (const [name, group, factoryOf] of [
  ['PostgreSQL', database, () => postgresFactory(new TestDatabase())],
  ['SQLite', describe, () => sqliteFactory('shared')],
] as const) {
  group(`random histories on ${name}`, () => {
    const factory = factoryOf()

    it(`${HISTORIES.runs} random histories get the model’s answers (seed ${testSeed})`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      await runHistories(factory, HISTORIES)
    })

    it(`${PROMISES.runs} random histories break no promise (seed ${testSeed})`, { timeout: TIMEOUT_MS }, async () => {
      const { admitted } = await checkPromises(factory, PROMISES)
      expect(admitted).toBeGreaterThan(0)
    })

    it(`${UNITS.runs} random histories over several units get the model’s answers (seed ${testSeed})`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      await runHistories(factory, { ...UNITS, scenes: UNIT_SCENES })
    })

    it(`${UNITS.runs} random histories of ten usual policies get the model’s answers (seed ${testSeed})`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      await runHistories(factory, { ...UNITS, scenes: TEN_SCENES })
    })

    it(`${OF_STORES.runs} random histories of two policies get the model’s answers (seed ${testSeed})`, {
      timeout: TIMEOUT_MS,
    }, async () => {
      const outcomes = await runStoreHistories(factory, OF_STORES)
      expect([...outcomes]).toEqual(expect.arrayContaining(['take admitted', 'take refused', 'hold admitted']))
    })
  })
}
