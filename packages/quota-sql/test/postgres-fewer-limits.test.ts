import { postgresTests } from '@scoregw/postgres-server'
import { createQuota, type LimitDefinition } from '@scoregw/quota'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'

describe.runIf(postgresTests)('a policy with fewer limits on PostgreSQL', () => {
  const database = new TestDatabase()

  it('a row with more limits than a table has columns stays readable when a policy with few limits writes it', async () => {
    const writes = (count: number): Record<string, LimitDefinition> =>
      Object.fromEntries(
        Array.from({ length: count }, (_, n) => [
          `write-${n}`,
          { by: 'user', limit: 9, per: `${n + 1}h`, for: 'write' },
        ]),
      )
    const engine = (count: number) => {
      const quota = createQuota({
        limits: { read: { by: 'user', limit: 9, per: '1h', for: 'read' }, ...writes(count) },
        operations: { read: {}, write: {} },
        store: postgresStore({ pool: database.pool() }),
      })
      onTestFinished(() => quota.close())
      return quota
    }
    const read = { subject: 'ann', operation: 'read' } as const
    const [before, after] = [engine(9), engine(1)]
    await before.consume(read)
    await after.consume(read)
    expect((await after.consume(read)).limits.read).toMatchObject({ used: 3 })
    expect((await before.consume(read)).limits.read).toMatchObject({ used: 4 })
  })
})
