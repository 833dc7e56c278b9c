import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createQuota,
  type Decision,
  definePolicy,
  memoryStore,
  type SyncQuota,
  type SyncReservation,
} from '../src/index.ts'
import {
  asAnotherProcess,
  flatLimits,
  type Gateway,
  gatewayPolicy,
  HOUR,
  type Operation,
  type TestClock,
  testClock,
  usedByWrites,
} from './support.ts'

const DEEP = process.env.QUOTA_TEST_DEEP === '1'
const SUBJECTS = ['ann', 'ben', 'cleo']
/** As what the shared layer refuses, so that each layer is met as the one that refuses. */
const LIMITS = flatLimits(200, 420)

const SHAPE = {
  unit: 'tokens',
  operations: {
    read: { category: 'read', cost: 4 },
    write: { category: 'write', cost: 15 },
    big: { category: 'write', cost: 50 },
  },
} as const

/** Limits of reads and writes, named like the gateway's. */
function limitsOf(lengths: readonly ('1h' | '2h' | '5h')[], personal: number, site: number) {
  const each = (['read', 'write'] as const).flatMap((category) =>
    lengths.flatMap((per) => [
      [`personal-${category}-${per}`, { by: 'personal', limit: personal, per, for: category }] as const,
      [`site-${category}-${per}`, { shared: 'site', limit: site, per, for: category }] as const,
    ]),
  )
  return Object.fromEntries(each)
}

/** Beside the usual limits per hour some that no other policy has: rows get another policy's cells. */
const OTHER = definePolicy({ ...SHAPE, limits: limitsOf(['1h', '2h'], 90, 300) })

type OtherQuota = SyncQuota<'read' | 'write' | 'big', NonNullable<(typeof OTHER)['counting']>>

/** An engine, its store, and everything it was asked and said. */
class Side {
  readonly clock: TestClock = testClock()
  readonly #store = memoryStore({ clock: this.clock })
  readonly #quota: SyncQuota<Operation, Gateway>
  #other: OtherQuota | undefined
  readonly #reservations: SyncReservation[] = []
  readonly decisions: Decision[] = []
  /** What each decision said when it was made. */
  readonly said: string[] = []

  /** @param hasOthers whether another policy's cells are in its rows from the beginning */
  constructor(hasOthers: boolean) {
    let nonces = 0
    const createNonce = (): string => `nonce-${nonces++}`
    this.#quota = createQuota({ policy: gatewayPolicy(LIMITS), store: this.#store, clock: this.clock, createNonce })
    if (hasOthers) this.#openOther()
  }

  async play([kind, a, b]: Step): Promise<unknown> {
    const subject = SUBJECTS[a % SUBJECTS.length]!
    const operation = (['read', 'write', 'big'] as const)[b % 3]!
    switch (kind) {
      case 'consume':
        return this.#decided(this.#quota.consumeSync({ subject, operation }))
      case 'priced':
        return this.#decided(this.#quota.consumeSync({ subject, operation, cost: b * 20 }))
      case 'other':
        return this.#decided(this.#openOther().consumeSync({ subject, operation }))
      case 'reserve':
        return this.#reserved(this.#quota.reserveSync({ subject, operation }))
      case 'id':
        return this.#reserved(
          this.#quota.reserveSync({ subject, operation, id: `id-${b}`, cost: b < 3 ? 0 : undefined }),
        )
      case 'hold':
        return this.#reserved(this.#quota.reserveSync({ subject, operation, ttlMs: 1 + b * 20 * 60_000 }))
      case 'settle':
        return this.#settle(a, b)
      case 'reset':
        return this.#quota.reset(subject)
      case 'settings':
        return void (await this.#quota.settings.update({
          mode: (['normal', 'conservative', 'lenient'] as const)[b % 3]!,
        }))
      case 'subject':
        return void (await this.#quota.subjects.set(subject, { bypass: { site: b % 2 === 0 } }))
      case 'wait':
        this.clock.at += [1, 1_000, HOUR / 2, HOUR, 5 * HOUR, 30 * HOUR, -2_000, -HOUR][b % 8]!
        return this.clock.at
      default:
        return this.#decided(this.#quota.peekSync({ subject, operation }))
    }
  }

  /** Everything that is kept, but for cells that never opened. */
  kept(): unknown {
    return [...this.#store.snapshot()].map(({ rows, ids }) => {
      const opened = rows.map(([layer, key, cells]) => ({ layer, key, cells }))
      const records = ids.map(([key, { hold, ...record }]) => {
        const charged = hold?.rows.map((row) => row.charged.filter(([, startedAt]) => startedAt !== -1))
        return { key, record, charged }
      })
      return { opened, records }
    })
  }

  #openOther(): OtherQuota {
    this.#other ??= createQuota({ policy: OTHER, store: asAnotherProcess(this.#store), clock: this.clock })
    return this.#other
  }

  #decided(decision: Decision): string {
    this.decisions.push(decision)
    this.said.push(JSON.stringify(decision))
    return this.said.at(-1)!
  }

  #reserved(reservation: SyncReservation): string {
    if (reservation.status === 'reserved') this.#reservations.push(reservation)
    return reservation.decision === undefined ? reservation.status : this.#decided(reservation.decision)
  }

  #settle(a: number, b: number): unknown {
    const [reservation] = this.#reservations.splice(a % (this.#reservations.length || 1), 1)
    if (reservation?.status !== 'reserved') return undefined
    try {
      return b % 2 === 0 ? reservation.cancel() : reservation.commit(b)
    } catch (error) {
      return String(error)
    }
  }
}

const KINDS = [
  ...Array.from({ length: 8 }, () => 'consume' as const),
  ...(['priced', 'reserve', 'reserve', 'settle', 'settle', 'wait', 'wait', 'peek', 'id', 'hold'] as const),
  ...(['reset', 'settings', 'subject'] as const),
]
type Step = readonly [kind: (typeof KINDS)[number] | 'other', a: number, b: number]

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(
    fc.oneof(
      { arbitrary: fc.constantFrom(...KINDS), weight: 40 },
      { arbitrary: fc.constant('other' as const), weight: 1 },
    ),
    fc.nat(7),
    fc.nat(12),
  ),
  { minLength: 30, maxLength: 60, size: 'max' },
)

describe('decisions of a memory store', () => {
  it(
    'decisions are identical on rows with cells of another policy, and never change afterwards',
    async () => {
      let decisions = 0
      await fc.assert(
        fc.asyncProperty(steps, async (history) => {
          const [usual, carrying] = [new Side(false), new Side(true)]
          for (const step of history) {
            const [a, b] = [await usual.play(step), await carrying.play(step)]
            expect(a).toEqual(b)
          }
          expect(usual.kept()).toEqual(carrying.kept())
          expect(usual.decisions.map((each) => JSON.stringify(each))).toEqual(carrying.said)
          decisions += usual.decisions.length
        }),
        { numRuns: DEEP ? 20_000 : 100 },
      )
      expect(decisions).toBeGreaterThan(1_000)
    },
    DEEP ? 1_800_000 : 60_000,
  )

  it('a decision keeps its values when its rows change', async () => {
    const clock = testClock()
    const quota = createQuota({ policy: gatewayPolicy(LIMITS), clock, store: memoryStore({ clock }) })
    const consume = () => quota.consumeSync({ subject: 'ann', operation: 'write' })
    const [first, second] = [consume(), consume()]
    clock.at += HOUR
    const third = consume()
    await quota.reset('ann')
    const fourth = consume()
    expect([first, second, third, fourth].map(usedByWrites)).toEqual([
      [15, 15, 15, 15, 15, 15],
      [30, 30, 30, 30, 30, 30],
      [15, 45, 45, 15, 45, 45],
      [15, 15, 15, 30, 60, 60],
    ])
  })

  it('decisions continue in rows whose cells have the order of an older policy', () => {
    const clock = testClock()
    const store = memoryStore({ clock })
    const old = definePolicy({ ...SHAPE, limits: limitsOf(['5h'], 90, 90) })
    createQuota({ policy: old, clock, store: asAnotherProcess(store) }).consumeSync({
      subject: 'ann',
      operation: 'write',
    })
    clock.at += 1_000
    const quota = createQuota({ policy: gatewayPolicy(LIMITS), clock, store })
    const used = [1, 2].map(() => usedByWrites(quota.consumeSync({ subject: 'ann', operation: 'write' })))
    expect(used.map((all) => all.slice(0, 3))).toEqual([
      [15, 30, 15],
      [30, 45, 30],
    ])
  })

  it('taken slots are kept while they are open, although their cells look like ended windows', () => {
    const clock = testClock()
    const store = memoryStore({ clock })
    const quota = createQuota({
      unit: 'tokens',
      operations: { ...SHAPE.operations, big: { category: 'write', cost: 1 } },
      limits: {
        ...limitsOf(['5h'], 90, 90),
        running: { by: 'personal', concurrency: 1, for: 'big' },
        allRunning: { shared: 'site', concurrency: 9, for: 'big' },
      },
      clock,
      store,
    })
    quota.reserveSync({ subject: 'ann', operation: 'big', ttlMs: 20 * HOUR })
    clock.at += 6 * HOUR
    for (let step = 0; step < 64; step++) quota.consumeSync({ subject: `user-${step}`, operation: 'read' })
    expect(quota.reserveSync({ subject: 'ann', operation: 'big' }).status).toBe('refused')
  })

  it('decisions stay exact at the largest counts', () => {
    const most = Number.MAX_SAFE_INTEGER
    const unlimited = Object.fromEntries(Object.keys(LIMITS).map((name) => [name, 'unlimited' as const]))
    const clock = testClock()
    const quota = createQuota({ policy: gatewayPolicy(unlimited), clock, store: memoryStore({ clock }) })
    const used = [2 ** 29, 2 ** 29, 15, 2 ** 30 + 1, 15, most, most, 15].map(
      (cost) => usedByWrites(quota.consumeSync({ subject: 'ann', operation: 'write', cost }))[0],
    )
    const exact = [2 ** 29, 2 ** 30, 2 ** 30 + 15, 2 ** 31 + 16, 2 ** 31 + 31]
    expect(used).toEqual([...exact, most, most, most])
  })
})
