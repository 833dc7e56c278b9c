import { fork } from 'node:child_process'
import { once } from 'node:events'
import { postgresTests } from '@scoregw/postgres-server'
import { ownTime, slowTests } from '@scoregw/server-kit'
import { describe, expect, it } from 'vitest'
import { postgresStore } from '../src/index.ts'
import { idOf, SCHEMA, take, used } from './support/counting.ts'
import { TestDatabase } from './support/database.ts'

const ROUNDS = process.env.QUOTA_TEST_DEEP === '1' ? 50 : 1

describe.runIf(postgresTests && slowTests)('killed processes in transactions', () => {
  const database = new TestDatabase({ durable: true })

  it('a killed server loses no charge and doubles none', async () => {
    const pool = database.pool({ max: 1 })
    const counters = postgresStore({ pool, deadlineMs: 10_000 }).open(SCHEMA)
    let [admitted, tries, isOver] = [0, 0, false]
    const callers = Array.from({ length: 16 }, async () => {
      while (!isOver) {
        tries++
        const { outcome } = await take(counters, 'z', idOf(`kill ${tries}`))
        if (outcome === 'admitted') admitted++
      }
    })
    await expect.poll(() => admitted).toBeGreaterThan(50)
    await database.own.kill()
    await database.own.restart()
    const atRestart = admitted
    await expect.poll(() => admitted).toBeGreaterThan(atRestart + 50)
    isOver = true
    await Promise.all(callers)
    expect((await used(counters, 'z'))[0]).toBe(admitted)
  })

  it('a killed process’s answered takes stay charged, and its locks block nobody', async () => {
    const counters = postgresStore({ pool: database.pool(), deadlineMs: 5_000 }).open(SCHEMA)
    for (let round = 0; round < ROUNDS; round++) {
      const child = fork(new URL('./support/taker.ts', import.meta.url), [database.url, `p${round}`], {
        execArgv: ['--conditions=@scoregw/source', '--import=tsx'],
      })
      let answered = 0
      child.on('message', (count) => {
        answered = Number(count)
      })
      await expect.poll(() => answered).toBeGreaterThan(100)
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
      const from = ownTime()
      const [charged] = await used(counters, `p${round}`)
      expect((await take(counters, `p${round}`)).outcome).toBe('admitted')
      expect(ownTime() - from).toBeLessThan(5_000)
      expect(charged).toBeGreaterThanOrEqual(answered)
      expect(charged).toBeLessThanOrEqual(answered + 32 + 256)
    }
  })
})
