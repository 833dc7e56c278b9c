import { postgresTests } from '@scoregw/postgres-server'
import { CONFORMANCE_CASES, describeStore } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { TestDatabase } from './support/database.ts'
import { postgresFactory } from './support/postgres-factory.ts'

describe.runIf(postgresTests)('the conformance suite on PostgreSQL', () => {
  // The cases share their tables: one that went on beside the next would disturb it.
  const patient = (name: string, test: () => Promise<void>): void => it(name, test)
  const runner = { describe, it: patient }
  const registered = describeStore(runner, postgresFactory(new TestDatabase()), 'PostgreSQL store')

  it('the PostgreSQL store passes the conformance suite', () => expect(registered).toBe(CONFORMANCE_CASES.length))
})
