import { cellsIn, hash32, windowCell } from '@scoregw/quota/internal'
import type { StoreSchema, TakeRequest } from '@scoregw/quota/store'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import { Keys } from '../src/keys/keys.ts'
import { newPrefix, openStore } from './store-harness.ts'
import { useCleanups, useRedis } from './support/cleanups.ts'
import { EVERYTHING, HOURS, Holder, type HolderOptions, SLOTS } from './support/holders.ts'
import { redisTests } from './support/redis-server.ts'

const { later, proxy: startProxy } = useCleanups()

describe.runIf(redisTests)('records of holds and ids', () => {
  const redis = useRedis()

  function holder(options: Partial<HolderOptions> & Pick<HolderOptions, 'prefix' | 'schema' | 'limits'>): Holder {
    const made = new Holder({ port: redis.port, ...options })
    later(() => made.close())
    return made
  }

  /** Two processes: one behind a connection that can be cut, one that is not. */
  async function parties(limits: readonly number[], schema: StoreSchema = HOURS) {
    const prefix = newPrefix()
    const proxy = await startProxy(redis.port)
    const one = holder({ prefix, schema, limits, port: proxy.port })
    const witness = holder({ prefix, schema, limits })
    await one.hold('before', 1)
    await one.cancel('before')
    return { one, witness, proxy, prefix }
  }

  it('a commit charges what fits and reports it, even if its first reply was lost', async () => {
    const { one, witness, proxy } = await parties([20])
    await one.hold('h', 10)
    await witness.take(4)
    const cut = proxy.cutAfterNextRequest()
    const answer = { outcome: 'settled', charged: 16, uncharged: 14, reserved: 10 }
    expect(await one.commit('h', 30, 'fit')).toMatchObject(answer)
    await cut
    expect(await witness.commit('h', 99, 'fit')).toMatchObject(answer)
    expect(await witness.used()).toEqual([20])
  })

  it('a growth whose reply was lost happens once, whatever grew the hold since', async () => {
    const { one, witness, proxy } = await parties([100])
    await one.hold('h', 10)
    const cut = proxy.cutAfterNextRequest()
    const growing = one.grow('h', 7)
    await cut
    proxy.refuse(true)
    expect(await witness.grow('h', 5)).toMatchObject({ outcome: 'held' })
    await witness.extend('h', 120_000)
    proxy.refuse(false)
    expect(await growing).toMatchObject({ outcome: 'held' })
    expect(await witness.used()).toEqual([22])
    expect(await one.commit('h')).toMatchObject({ charged: 22 })
  })

  it('records of ids list no limits and stay short', async () => {
    const prefix = newPrefix()
    const store = openStore(redis.port, prefix)
    later(() => store.close())
    const counters = store.open(SLOTS)
    const keys = new Keys(prefix, SLOTS)
    const id = { id: 'i', nonce: 'n'.repeat(22), fingerprint: 'f'.repeat(30), ttlMs: 60_000 }
    const request = { subject: 'u', set: 0, quotas: { layers: [0, 1], limits: [99, 9, 99, 9] }, costs: [1, 0], id }
    await counters.take(request)
    const record = (await redis.admin.getBuffer(keys.recordPlace('u', 'i').key))!
    for (const { identity } of SLOTS.layers[0]!.cells) expect(record.includes(identity)).toBe(false)
    // Two rows of two cells are 52 bytes, and 38 with their lists and amounts.
    expect(record.length).toBeLessThan(52 + 38 + 22 + 30 + 100)
    const held = { ...request, costs: [1, 1], id: { ...id, id: 'h' }, hold: { ttlMs: 60_000, maxHolds: 9 } }
    await counters.take(held)
    await counters.holds!.grow({ ...request, id: held.id })
    await counters.holds!.extend({ ...held, ttlMs: 90_000 })
    const grown = (await redis.admin.getBuffer(keys.recordPlace('u', 'h').key))!
    for (const { identity } of SLOTS.layers[0]!.cells) expect(grown.toString('latin1').split(identity)).toHaveLength(2)
  })

  it('a record in an unknown state is damaged, however it is reached', async () => {
    const prefix = newPrefix()
    const [one, other] = [1, 2].map(() => holder({ prefix, schema: HOURS, limits: [100] }))
    await one!.hold('h', 10)
    const { key } = new Keys(prefix, HOURS).recordPlace('u', 'h')
    const record = (await redis.admin.getBuffer(key))!
    // After the mark, the expiry and the version.
    const stateAt = record.indexOf('["R"') + 2
    expect(stateAt).toBe(17)
    record[stateAt] = 'Z'.charCodeAt(0)
    await redis.admin.set(key, record)
    for (const call of [other!.hold('h', 10), other!.cancel('h'), other!.extend('h', 60_000)]) {
      await expect(call).rejects.toMatchObject({ code: 'damaged_row', message: expect.stringContaining('record') })
    }
    expect(await other!.used()).toEqual([10])
  })

  it('a record whose rows have four lists is read by a policy that has none of them', async () => {
    const prefix = newPrefix()
    const lists = [1, 2, 3, 4, 5].map((hours) => [windowCell({ label: `${hours}h`, lengthMs: hours * 3_600_000 })])
    const [first, ...others] = lists.map((cells, index): StoreSchema['layers'][number] => {
      return {
        name: index === 0 ? 'other' : `l${index}`,
        by: 'personal',
        shared: false,
        cells: cellsIn(['tokens'], cells),
      }
    })
    const [counters, other] = [others, [first!]].map((layers) => {
      const store = openStore(redis.port, prefix)
      later(() => store.close())
      return store.open({ units: ['tokens'], layers, sets: [[...layers.keys()]] })
    })
    const subject = { personal: 'u' }
    const id = { id: 'h', nonce: 'n', fingerprint: 'f', ttlMs: 60_000 }
    const quotas = { layers: [0, 1, 2, 3], limits: [9, 9, 9, 9] }
    const hold = { ttlMs: 60_000, maxHolds: 1 }
    expect(await counters!.take({ subject, set: 0, quotas, costs: [5, 0], id, hold })).toMatchObject({
      outcome: 'admitted',
    })
    expect((await other!.holds!.list({ subject })).holds).toMatchObject([{ id: 'h', costs: { tokens: 5 } }])
    const settle = { subject, id, as: 'cancelled', overrun: 'refuse', maxOverrun: [0], set: 0 } as const
    const settled = await other!.holds!.settle({ ...settle, quotas: { layers: [0], limits: [9] } })
    expect(settled.outcome).toBe('settled')
    const { states } = await counters!.read({ subject, set: 0, layers: quotas.layers })
    expect(states.filter((_, at) => at % 2 === 1)).toEqual([0, 0, 0, 0])
  })

  it('an unread row of another list doesn’t shift the rows after it in the reply', async () => {
    const prefix = newPrefix()
    const clock = manualClock()
    const [one, other] = [SLOTS, EVERYTHING].map((schema) => {
      return holder({ prefix, schema, limits: schema.layers[0]!.cells.map(() => 100), clock })
    })
    await other!.take(30)
    const { counters } = one!
    const take = (subject: string, more: Partial<TakeRequest> = {}): TakeRequest => ({
      ...{ subject, set: 0, quotas: { layers: [0], limits: [100, 2, 100, 2] }, costs: [7, 0] },
      ...more,
    })
    await counters.take(take('v'))
    // A stale take reads no row.
    const [stale, known] = await Promise.all([
      counters.take(take('u', { settingsRevision: 'another' })),
      counters.read({ subject: 'v', set: 0, layers: [0] }),
    ])
    expect(stale.outcome).toBe('stale')
    expect(known.states).toEqual([clock.now(), 7, -1, 0, -1, 0, -1, 0])
    const row = (await redis.admin.getBuffer(new Keys(prefix, SLOTS).row(0, 'u')))!
    expect(row.readUInt32LE(1)).toBe(hash32(EVERYTHING.layers[0]!.cells.map(({ identity }) => identity).join('\n')))
    const both = await counters.read({ subject: 'u', set: 0, layers: [0] })
    expect(both.states).toEqual([clock.now(), 30, -1, 0, -1, 0, -1, 0])
  })

  it('a hold settled before its take was answered arrives one call later, and answered calls keep their order', async () => {
    const one = holder({ prefix: newPrefix(), schema: HOURS, limits: [100] })
    await one.take(0)
    const [held, settled, taken] = await Promise.all([one.hold('h', 60), one.cancel('h'), one.take(60)])
    // The take was requested after the cancel, and decided before it: rule 8 of the guide.
    expect([held.outcome, settled.outcome, taken.outcome]).toEqual(['admitted', 'settled', 'refused'])
    expect(await one.take(60)).toMatchObject({ outcome: 'admitted' })
    await one.hold('i', 40)
    expect(await Promise.all([one.cancel('i'), one.take(40)])).toMatchObject([
      { outcome: 'settled' },
      { outcome: 'admitted' },
    ])
  })
})
