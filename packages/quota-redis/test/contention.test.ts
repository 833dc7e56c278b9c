import { cellsIn, windowCell } from '@scoregw/quota/internal'
import type { TakeReply } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { describe, expect, it, vi } from 'vitest'
import { Gathered } from '../src/counters/delivery.ts'
import type { Operation } from '../src/counters/operation.ts'
import type { RedisCounters, RedisStore } from '../src/index.ts'
import { newPrefix, openStore } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'

const HOUR_MS = 3_600_000
const WAVES = 100
/** Of each of two processes in a wave. */
const TAKES = 45
const SCHEMA = uniform(
  ['tokens'],
  cellsIn(
    ['tokens'],
    ['1h', '5h', '24h'].map((label) => windowCell({ label, lengthMs: Number.parseInt(label, 10) * HOUR_MS })),
  ),
  [
    { name: 'personal', shared: false },
    { name: 'site', shared: true },
  ],
)
const QUOTAS = { layers: [0, 1], limits: new Array<number>(6).fill(1e12) }

/** Takes of one subject, and rarer operations: each leaves so many tokens charged as it says. */
class Member {
  readonly #counters: RedisCounters
  readonly #name: string
  #holds = 0

  constructor(store: RedisStore, name: string) {
    this.#counters = store.open(SCHEMA)
    this.#name = name
  }

  take(wave: number, number: number): Promise<TakeReply> {
    const subject = `u${(7 * wave + number) % 500}`
    return this.#counters.take({ subject, set: 0, quotas: QUOTAS, costs: [1, 0] })
  }

  async takeAndGiveBack(): Promise<number> {
    const { states } = await this.take(0, 0)
    const refund = { subject: 'u0', set: 0, layers: [0, 1], states, refunds: [1], as: 'cancelled' } as const
    await this.#counters.settle(refund)
    return 0
  }

  async hold(end: 'committed' | 'cancelled'): Promise<number> {
    const id = { id: `${this.#name}-${this.#holds++}`, nonce: 'n', fingerprint: 'f', ttlMs: HOUR_MS }
    const request = { subject: 'u1', set: 0, quotas: QUOTAS, id }
    const holds = this.#counters.holds!
    await this.#counters.take({ ...request, costs: [2, 0], hold: { ttlMs: HOUR_MS, maxHolds: 1_000 } })
    expect(await holds.grow({ ...request, costs: [3, 0] })).toMatchObject({ outcome: 'held' })
    const settle = { ...request, as: end, actual: [4], overrun: 'refuse', maxOverrun: [0] } as const
    expect(await holds.settle(settle)).toMatchObject({ outcome: 'settled' })
    return end === 'committed' ? 4 : 0
  }

  async used(): Promise<readonly number[]> {
    const { states } = await this.#counters.read({ subject: '', set: 0, layers: [1] })
    return states.slice(6).filter((_, index) => index % 2 === 1)
  }
}

describe.runIf(redisTests)('two processes on one shared row', () => {
  const redis = useRedis()

  it('holds, refunds and resets succeed at the first try among concurrent takes, and none is lost', async () => {
    const prefix = newPrefix()
    const stores = [openStore(redis.port, prefix), openStore(redis.port, prefix)]
    await Promise.all(stores.map((store) => store.ready()))
    const members = stores.map((store, index) => new Member(store, `m${index}`))
    const tries = new Map<Operation, number>()
    const add = Gathered.prototype.add
    const spy = vi.spyOn(Gathered.prototype, 'add').mockImplementation(function (this: Gathered, operation) {
      tries.set(operation, (tries.get(operation) ?? 0) + 1)
      add.call(this, operation)
    })
    let expected = 0
    try {
      for (let wave = 0; wave < WAVES; wave++) {
        const rare = members.flatMap((member) => [
          member.takeAndGiveBack(),
          member.hold('committed'),
          member.hold('cancelled'),
        ])
        const takes = members.flatMap((member) =>
          Array.from({ length: TAKES }, (_, number) => member.take(wave, number)),
        )
        for (const { outcome } of await Promise.all(takes)) expect(outcome).toBe('admitted')
        for (const charged of await Promise.all(rare)) expected += charged
        expected += takes.length
      }
      expect(tries.size).toBeGreaterThan(10_000)
      expect(Math.max(...tries.values())).toBe(1)
      expect(new Set(await members[0]!.used())).toEqual(new Set([expected]))
    } finally {
      spy.mockRestore()
      await Promise.all(stores.map((store) => store.close()))
    }
  })
})
