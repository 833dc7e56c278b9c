import { slowTests, testSeed } from '@scoregw/server-kit'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newPrefix } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { type PartyReport, type Seen, startParty } from './support/policy-party.ts'
import { redisTests } from './support/redis-server.ts'

const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 1_000 : 10

const CALLERS = 8
const EACH = 5
const IDS = ['i1', 'i2', 'i3', 'i4', 'i5', 'i6', 'i7', 'i8']

const LENGTHS = { '5m': '5m', '1h': '1h', B: '1h', a: '1h', '5h': '5h', '1d': '1d' }
const LABELS = Object.keys(LENGTHS) as (keyof typeof LENGTHS)[]

const limits = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: LABELS.length, maxLength: LABELS.length })

/** Other limits, layers and categories, in other orders and with other numbers; what they share has one name. */
const policies: fc.Arbitrary<object> = fc
  .record({
    labels: fc.uniqueArray(fc.constantFrom(...LABELS), { minLength: 1, maxLength: 5 }),
    categories: fc.constantFrom<string[]>(['read'], ['read', 'write'], ['write', 'read']),
    layers: fc.constantFrom(['personal'], ['personal', 'site'], ['site', 'personal']),
    personal: limits,
    site: limits,
  })
  .map(({ labels, categories, layers, ...numbers }) => {
    const each = layers.flatMap((layer) =>
      categories.flatMap((category) =>
        labels.map((label, index) => {
          const whose = layer === 'site' ? { shared: layer } : { by: layer }
          const limit = numbers[layer as 'personal' | 'site'][index]
          return [`${layer}-${category}-${label}`, { ...whose, limit, per: LENGTHS[label], for: category }] as const
        }),
      ),
    )
    const others = categories.includes('write') ? { other: { category: 'write' } } : {}
    return { limits: Object.fromEntries(each), operations: { call: { category: 'read' }, ...others } }
  })

/** Counters that calls are charged in. */
const charged = ({ now }: PartyReport): Seen[] => now.filter(({ counter }) => counter.includes('-read-'))

/** Every number reported to a caller is a whole one, and the remainder is the unused part. */
function expectSound({ now, shown }: PartyReport): void {
  for (const { counter, limit, used, remaining } of [...now, ...shown]) {
    const isSound = Number.isSafeInteger(used) && used >= 0 && remaining === Math.max(0, limit - used)
    expect(isSound, `${counter}: ${used} used of ${limit}, ${remaining} left`).toBe(true)
  }
}

describe.runIf(redisTests && slowTests)('processes with different policies on one Redis', () => {
  const redis = useRedis()
  let parties: readonly ReturnType<typeof startParty>[]
  beforeAll(() => {
    parties = [startParty(), startParty()]
  })
  afterAll(() => {
    for (const party of parties) party.kill()
  })

  type Work = Parameters<(typeof parties)[number]['work']>[0]
  /** Runs a job in both, or one in each of them, at once, and returns what both see when it is done. */
  async function both(jobs: readonly [Work, Work]): Promise<readonly [PartyReport, PartyReport]> {
    const done = await Promise.all(parties.map((party, index) => party.work(jobs[index]!)))
    const after = await Promise.all(parties.map((party) => party.work({ kind: 'look' })))
    const reports = done.map((report, index) => ({ ...report, now: after[index]!.now }))
    for (const report of [...done, ...reports]) expectSound(report)
    return reports as [PartyReport, PartyReport]
  }

  /** Each counter holds what those were admitted that know it, and no more than the largest of their limits. */
  function expectExact(reports: readonly [PartyReport, PartyReport], admitted: readonly [number, number]): void {
    for (const [index, report] of reports.entries()) {
      const theirs = new Map(charged(reports[1 - index]!).map((each) => [each.counter, each]))
      for (const { counter, limit, used } of charged(report)) {
        const other = theirs.get(counter)
        expect(used, counter).toBe(admitted[index]! + (other === undefined ? 0 : admitted[1 - index]!))
        expect(used, counter).toBeLessThanOrEqual(Math.max(limit, other?.limit ?? 0))
      }
    }
  }

  it(`${RUNS} random pairs of policies in two processes exceed no shared limit (seed ${testSeed})`, {
    timeout: 180_000 + RUNS * 2_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(policies, policies, async (one, other) => {
        const prefix = newPrefix()
        const open = (policy: object) => ({ kind: 'open', port: redis.port, prefix, policy }) as const
        await both([open(one), open(other)])

        const charge = { kind: 'charge', callers: CALLERS, each: EACH } as const
        const took = await both([charge, charge])
        expectExact(took, [took[0].admitted, took[1].admitted])
        const rollback = { kind: 'rollback' } as const
        expectExact(await both([rollback, rollback]), [0, 0])

        // The same ids at once, in opposite orders: each is one party's, or nobody's where it did not fit.
        const reversed = IDS.toReversed()
        const raced = await both([
          { kind: 'reserve', ids: IDS },
          { kind: 'reserve', ids: reversed },
        ])
        expectExact(raced, [raced[0].admitted, raced[1].admitted])
        const owns = (index: 0 | 1) => (index === 0 ? IDS : reversed).filter((_, n) => is(raced[index], n, 'reserved'))
        const [mine, theirs] = [owns(0), owns(1)]
        expect(mine.length + theirs.length).toBeGreaterThan(0)
        expect(mine.filter((id) => theirs.includes(id))).toEqual([])
        const repeat = async (status: string): Promise<void> => {
          const again = await both([
            { kind: 'reserve', ids: theirs },
            { kind: 'reserve', ids: mine },
          ])
          expect(again.map(({ statuses }) => statuses)).toEqual([theirs.map(() => status), mine.map(() => status)])
        }
        await repeat('duplicate')
        expectExact(await both([rollback, { kind: 'look' }]), [0, theirs.length])
        expectExact(await both([{ kind: 'look' }, rollback]), [0, 0])
        await repeat('cancelled')
      }),
      { numRuns: RUNS, seed: testSeed },
    )
  })
})

function is({ statuses }: PartyReport, index: number, status: string): boolean {
  return statuses[index] === status
}
