import { cellsIn, windowCell } from '@scoregw/quota/internal'
import { isNotDone, type StoreSchema } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { describe, expect, it } from 'vitest'
import { Keys } from '../src/keys/keys.ts'
import { newPrefix, openStore } from './store-harness.ts'
import { useCleanups, useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const HOUR_MS = 3_600_000
const schemaOf = (...labels: readonly string[]): StoreSchema =>
  uniform(
    ['tokens'],
    cellsIn(
      ['tokens'],
      labels.map((label) => windowCell({ label, lengthMs: Number.parseInt(label, 10) * HOUR_MS })),
    ),
    [{ name: 'user', shared: false }],
  )

const { later } = useCleanups()

describe.runIf(redisTests)('data of another version on Redis', () => {
  const redis = useRedis()

  function opened(prefix: string, schema: StoreSchema) {
    const store = openStore(redis.port, prefix)
    later(() => store.close())
    const [counters, keys] = [store.open(schema), new Keys(prefix, schema)]
    const quotas = { layers: [0], limits: schema.sets[0]!.map(() => 99) }
    const id = (name: string) => ({ id: name, nonce: name, fingerprint: 'f', ttlMs: HOUR_MS })
    return {
      row: keys.row(0, 'u'),
      record: keys.recordPlace('u', 'i').key,
      counters,
      take: (subject = 'u') => counters.take({ subject, set: 0, quotas, costs: [1, 0] }),
      takeUnder: (name: string) => counters.take({ subject: 'u', set: 0, quotas, costs: [1, 0], id: id(name) }),
      read: () => counters.read({ subject: 'u', set: 0, layers: [0] }),
    }
  }

  async function errorOf(call: Promise<unknown>): Promise<Error & { readonly code?: string }> {
    return call.then(
      (answer) => expect.fail(`it was answered: ${JSON.stringify(answer)}`),
      (error: Error) => error,
    )
  }

  /** Changes one byte of a key, as a version that writes another one would. */
  async function rewrite(key: string, at: number, version: number): Promise<Buffer> {
    const bytes = (await redis.admin.getBuffer(key))!
    bytes[at] = version
    await redis.admin.set(key, bytes, 'KEEPTTL')
    return bytes
  }

  it.each([
    ['the policy’s own limits', ['1h', '24h']],
    ['another policy’s limits', ['1h', '5h']],
  ])('a row of another version is reported and stays as it is: %s', async (_, labels) => {
    const prefix = newPrefix()
    const { take, takeUnder, read, row, counters } = opened(prefix, schemaOf('1h', '24h'))
    await opened(prefix, schemaOf(...labels)).take()
    const bytes = await rewrite(row, 0, 9)
    for (const call of [take, read, () => takeUnder('i')]) {
      const error = await errorOf(call())
      expect([error.code, isNotDone(error)]).toEqual(['other_version', true])
      expect(error.message).toMatch(/row at .* version 9 .* reads version 2/)
    }
    expect((await take('v')).outcome).toBe('admitted')
    expect(await redis.admin.getBuffer(row)).toEqual(bytes)
    await counters.reset({ subject: 'u', limits: [0, 1] })
    expect((await take()).outcome).toBe('admitted')
  })

  it('a record of another version is reported and stays as it is', async () => {
    const prefix = newPrefix()
    const { states } = await opened(prefix, schemaOf('1h')).takeUnder('i')
    const { takeUnder, record, counters } = opened(prefix, schemaOf('1h'))
    const bytes = await rewrite(record, 14, 9)
    const id = { id: 'i', nonce: 'i', fingerprint: 'f', ttlMs: HOUR_MS }
    const settle = { subject: 'u', set: 0, layers: [0], states, refunds: [1], as: 'cancelled', id } as const
    for (const call of [() => takeUnder('i'), () => counters.settle(settle)]) {
      const error = await errorOf(call())
      expect([error.code, isNotDone(error)]).toEqual(['other_version', true])
      expect(error.message).toMatch(/record of the id .* version 9 .* reads version 2/)
    }
    expect((await takeUnder('j')).outcome).toBe('admitted')
    expect(await redis.admin.getBuffer(record)).toEqual(bytes)
  })
})
