import { postgresTests } from '@scoregw/postgres-server'
import { CONFORMANCE_CASES, describeStore } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { TestDatabase } from './support/database.ts'
import { postgresFactory } from './support/postgres-factory.ts'

describe.runIf(postgresTests)('the conformance suite on PostgreSQL', () => {
  const registered = describeStore({ describe, it }, postgresFactory(new TestDatabase()), 'PostgreSQL store')

  it('runs every case', () => expect(registered).toBe(CONFORMANCE_CASES.length))
})
