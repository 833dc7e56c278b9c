import { type PostgresServer, postgresTests } from '@scoregw/postgres-server'
import { createQuota } from '@scoregw/quota'
import { type Fault, faultPolicy, runFaultHistories } from '@scoregw/quota-histories'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
/** Of each kind of fault: in the deep profile more than 100,000 calls. */
const HISTORIES = deep ? { runs: 50, takes: 1_000 } : { runs: 2, takes: 300 }
const TIMEOUT_MS = deep ? 7_200_000 : 120_000

const killed =
  (server: PostgresServer): Fault =>
  async (unanswered) => {
    await server.kill()
    await unanswered
    await server.restart()
  }

const paused =
  (server: PostgresServer): Fault =>
  async (unanswered) => {
    server.pause()
    await unanswered
    server.resume()
  }

describe.runIf(postgresTests).each([
  ['is killed and comes back', killed],
  ['stands still for a while', paused],
])('concurrent histories while PostgreSQL %s', (_, faultOf) => {
  const database = new TestDatabase({ durable: true })

  it('concurrent histories get correct answers during the fault', { timeout: TIMEOUT_MS }, async () => {
    const store = postgresStore({ pool: database.pool(), deadlineMs: 500 })
    const quota = createQuota({ policy: faultPolicy(HISTORIES.takes / 2), store })
    onTestFinished(() => quota.close())
    const fault = faultOf(database.own)
    const { calls, refused, unanswered } = await runFaultHistories(quota, { ...HISTORIES, fault })
    expect(refused).toBeGreaterThan(calls / 10)
    expect(unanswered).toBeGreaterThanOrEqual(HISTORIES.runs)
    if (deep) console.log(`${calls} calls, ${unanswered} attempts without an answer, no violation`)
  })
})
