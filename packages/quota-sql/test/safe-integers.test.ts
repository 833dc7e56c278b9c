import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createQuota, definePolicy } from '@scoregw/quota'
import type { FactorState } from '@scoregw/quota/adaptive'
import { expect, it, onTestFinished } from 'vitest'
import { migrateQuota, sqlFactor, sqliteStore, sqlOutcomes, sqlSettings } from '../src/index.ts'
import { connectTo, kyselyOn } from './support/sqlite.ts'

const policy = definePolicy({
  limits: {
    hourly: { by: 'user', limit: 10, per: '1h' },
    running: { by: 'user', concurrency: 5, for: 'run' },
  },
  operations: { read: {}, run: {} },
})

/** Fails on a bigint anywhere: JSON cannot hold one. */
function plain<T>(value: T): T {
  expect(() => JSON.stringify(value)).not.toThrow()
  return value
}

it('everything works, and numbers stay numbers, on a connection that reads all integers as bigint', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'scoregw-safe-'))
  const database = connectTo(join(dir, 'quota.db'))
  database.defaultSafeIntegers(true)
  onTestFinished(async () => {
    database.close()
    await rm(dir, { recursive: true })
  })
  expect(typeof (database.prepare('select 1 as one').all() as { one: unknown }[])[0]!.one).toBe('bigint')
  const db = kyselyOn(database)
  await migrateQuota(db, { dialect: 'sqlite' })
  await migrateQuota(db, { dialect: 'sqlite' })

  const writes: unknown[] = []
  const settingsStore = sqlSettings({ db, onWrite: async (_, write) => void writes.push(plain(write)) })
  const other = sqlSettings({ db })
  onTestFinished(() => other.close())
  const store = sqliteStore({ database })
  const quota = createQuota({ policy, store, settingsStore, logger: false, failurePolicy: { read: 'closed' } })
  onTestFinished(() => quota.close())

  for (const version of [1, 2, 3]) {
    const changed = plain(await quota.settings.update({ limits: { hourly: 10 + version } }))
    expect(changed.settings).toMatchObject({ version })
    expect(plain(await other.read())).toMatchObject({ version })
    plain(await quota.subjects.set('u', { limits: { hourly: 20 + version } }))
  }
  expect(writes).toHaveLength(6)

  const request = { subject: 'u', operation: 'read' } as const
  for (let used = 1; used <= 3; used++) {
    const decision = plain(await quota.consume(request))
    expect(decision.limits.hourly).toMatchObject({ used, limit: 23 })
  }
  const hold = await quota.reserve({ ...request, operation: 'run', id: 'one', ttlMs: 60_000 })
  expect(hold.status).toBe('reserved')
  expect(await quota.reserve({ ...request, operation: 'run', id: 'one', ttlMs: 60_000 })).toMatchObject({
    status: 'duplicate',
  })
  expect(plain(await quota.holds.list('u'))).toHaveLength(1)
  await hold.commit()
  plain(await quota.status('u'))
  await quota.reset('u')

  const factor = sqlFactor({ db })
  onTestFinished(() => factor.close())
  for (const version of [1, 2, 3]) {
    expect(await factor.compareAndSet(version - 1, version, {} as FactorState)).toBe(true)
    expect(plain(await factor.read())).toEqual({ version, minute: version, state: {} })
  }
  await factor.poll()

  const outcomes = sqlOutcomes({ db })
  const none = await outcomes.read(0, 10)
  expect(plain(none)).toEqual([])
})
