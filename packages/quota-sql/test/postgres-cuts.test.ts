import { postgresTests } from '@scoregw/postgres-server'
import { isNotDone } from '@scoregw/quota/store'
import { describe, expect, it } from 'vitest'
import { type PostgresStore, postgresStore } from '../src/index.ts'
import { idOf, SCHEMA, take, used } from './support/counting.ts'
import { type CuttingProxy, startCuttingProxy } from './support/cutting-proxy.ts'
import { TestDatabase } from './support/database.ts'
import { poolOf } from './support/pool.ts'

/** Between two points at which the line is cut, in bytes of what the client sends. */
const STEP = process.env.QUOTA_TEST_DEEP === '1' ? 1 : 61

describe.runIf(postgresTests)('a line that is cut at every point of a transaction', () => {
  const database = new TestDatabase()

  async function through<T>(work: (proxy: CuttingProxy, store: PostgresStore) => Promise<T>): Promise<T> {
    const proxy = await startCuttingProxy(database.server.port)
    const url = new URL(database.url)
    url.port = String(proxy.port)
    const pool = poolOf(url.href, { max: 1 })
    const store = postgresStore({ pool, deadlineMs: 5_000 })
    try {
      return await work(proxy, store)
    } finally {
      await store.close()
      await pool.end()
      await proxy.stop()
    }
  }

  for (const isUnderIds of [true, false]) {
    it(`${isUnderIds ? 'under ids' : 'without ids'}: nothing half done, nothing twice`, { timeout: 600_000 }, () =>
      through(async (proxy, store) => {
        const counters = store.open(SCHEMA)
        const direct = postgresStore({ pool: database.pool(), deadlineMs: 5_000 })
        const look = direct.open(SCHEMA)
        const subject = `u ${isUnderIds}`
        let tries = 0
        const once = () => {
          tries++
          return take(counters, subject, isUnderIds ? idOf(`try ${tries}`) : undefined)
        }
        await once()
        const before = proxy.sent()
        await once()
        const bytes = proxy.sent() - before
        let lost = 0
        // From the end on: the last byte is that of the commit.
        for (let at = bytes; at >= 0; at -= STEP) {
          const [was] = await used(look, subject)
          proxy.cutAfter(at)
          const outcome = await once().then(
            ({ outcome }) => outcome,
            (error: unknown) => error,
          )
          const [is, shared] = await used(look, subject)
          const charged = is - was
          if (outcome === 'admitted') expect(charged, `cut after ${at} of ${bytes} bytes`).toBe(1)
          else if (isNotDone(outcome)) expect(charged, `cut after ${at} of ${bytes} bytes`).toBe(0)
          else lost++
          if (isUnderIds) expect(outcome, `cut after ${at} of ${bytes} bytes`).toBe('admitted')
          // Every row or none.
          expect(shared).toBe((await used(look, 'u true'))[0] + (await used(look, 'u false'))[0])
        }
        expect(tries).toBeGreaterThan(10)
        if (!isUnderIds) expect(lost).toBeGreaterThan(0)
        await direct.close()
      }),
    )
  }
})
