import { memoryStore } from '@scoregw/quota'
import { cellsIn, layoutOf, slotsCell, windowCell } from '@scoregw/quota/internal'
import type { Counters, HoldOptions, Quotas, StoreSchema } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'
import { inWaves, oneByOne, Seen, sameQuotas, twoStores } from './support/scenes.ts'
import { limitsOf } from './support/schemas.ts'

const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 5_000 : 30
const TIMEOUT_MS = 60_000 + 300 * RUNS

const MINUTE_MS = 60_000
const PERIOD_MS = 20 * MINUTE_MS
const HOLD_MS = 5 * MINUTE_MS
const ID_MS = 15 * MINUTE_MS

const ROLLING = [
  windowCell({ label: '10m', lengthMs: 10 * MINUTE_MS }),
  windowCell({ label: '1h', lengthMs: 60 * MINUTE_MS }),
]
const CALENDAR = windowCell({ label: 'hour', every: 'hour', timeZone: 'UTC' })
const SHAPES = [ROLLING, [...ROLLING, CALENDAR], [...ROLLING, slotsCell('running')], [CALENDAR, slotsCell('running')]]

const SCHEMAS: readonly StoreSchema[] = SHAPES.map((cells) =>
  uniform(['tokens'], cellsIn(['tokens'], cells), [
    { name: 'site', shared: true },
    { name: 'personal', shared: false },
  ]),
)

/** Limits by kind of cell; few of them, so that takes under the same limits follow each other. */
const LIMITS = [
  { site: 20, personal: 9, slots: 2 },
  { site: 14, personal: 12, slots: Number.POSITIVE_INFINITY },
  { site: Number.POSITIVE_INFINITY, personal: 9, slots: 1 },
]

function quotasOf(schema: StoreSchema, which: number, layers: readonly number[]): Quotas {
  const { site, personal, slots } = LIMITS[which]!
  const limits = schema.layers.flatMap(({ cells }, layer) =>
    cells.map(({ kind }) => (kind === 'concurrency' ? slots : [site, personal][layer]!)),
  )
  return sameQuotas(layers, limits)
}

interface Ask {
  readonly kind: 'take' | 'hold' | 'extend' | 'grow' | 'commit' | 'cancel' | 'reset' | 'read' | 'list'
  readonly subject: string
  readonly layers: readonly number[]
  readonly cost: number
  readonly id: string
  readonly nonce: string
  readonly limits: number
  readonly overrun: 'refuse' | 'charge' | 'fit'
  readonly slot: boolean
  /** By how much the periods that it sends are behind, in periods. */
  readonly isBehind: number
}

interface Turn {
  readonly turnMs: number
  readonly asks: readonly Ask[]
}

/** Asked of a hold that may be known to its record alone. */
const BY_RECORD: readonly Ask['kind'][] = ['extend', 'grow', 'commit', 'cancel']

/** Under an id the same is sent again. */
const HOLD_LAYERS = [0, 1]

const anyAsk: fc.Arbitrary<Ask> = fc.record({
  kind: fc.constantFrom(
    ...([
      'take',
      'take',
      'hold',
      'hold',
      'hold',
      'extend',
      'grow',
      'commit',
      'commit',
      'cancel',
      'reset',
      'read',
      'list',
    ] as const),
  ),
  subject: fc.constantFrom('a', 'b'),
  layers: fc.constantFrom([0, 1], [0, 1], [1], [1, 0]),
  cost: fc.integer({ min: 1, max: 6 }),
  id: fc.constantFrom('i', 'j', 'k'),
  nonce: fc.constantFrom('n', 'n', 'n', 'm'),
  limits: fc.constantFrom(0, 0, 0, 1, 2),
  overrun: fc.constantFrom('refuse', 'charge', 'fit'),
  slot: fc.boolean(),
  isBehind: fc.constantFrom(0, 0, 0, 0, 1, 2),
})

const ask = anyAsk.map((asked): Ask => (asked.kind === 'hold' ? { ...asked, layers: HOLD_LAYERS } : asked))

const turn: fc.Arbitrary<Turn> = fc.record({
  turnMs: fc.constantFrom(
    0,
    0,
    1,
    MINUTE_MS,
    HOLD_MS,
    HOLD_MS - 1,
    7 * MINUTE_MS,
    PERIOD_MS,
    ID_MS,
    -1,
    -MINUTE_MS,
    3_600_000,
  ),
  asks: fc.array(ask, { minLength: 1, maxLength: 10 }),
})

/** Periods as an engine sends them: the common ones in one array, those of `b` in arrays of its own. */
class Periods {
  readonly #everybodys = new Map<string, readonly number[]>()

  of(schema: StoreSchema, { subject, isBehind }: Ask, now: number): readonly number[] | undefined {
    if (layoutOf(schema).calendars.length === 0) return undefined
    const periods = [0, 1].flatMap((layer) => {
      const shiftMs = subject === 'b' && layer === 1 ? 3 * MINUTE_MS : 0
      const start = Math.floor((now - shiftMs) / PERIOD_MS) * PERIOD_MS + shiftMs - isBehind * PERIOD_MS
      return [start, start + PERIOD_MS, start + 2 * PERIOD_MS]
    })
    if (subject === 'b') return periods
    const name = String(periods)
    const known = this.#everybodys.get(name) ?? periods
    this.#everybodys.set(name, known)
    return known
  }
}

/** Those that end at the same instant are in no order. */
async function listed(list: ReturnType<NonNullable<Counters['holds']>['list']>): Promise<unknown> {
  const { holds } = await list
  return { holds: holds.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }
}

/** Puts one question to a store. */
function put(counters: Counters, schema: StoreSchema, asked: Ask, periods: readonly number[] | undefined): unknown {
  const { kind, subject, layers, cost, limits, overrun, slot } = asked
  const quotas = quotasOf(schema, limits, layers)
  if (kind === 'read') return counters.read({ subject, set: 0, layers, periods })
  if (kind === 'reset') return counters.reset({ subject, limits: limitsOf(schema, layers) })
  if (kind === 'take') return counters.take({ subject, set: 0, quotas, costs: [cost, 0], periods })
  const { holds } = counters
  if (holds === undefined) throw new TypeError('there are no holds')
  if (kind === 'list') return listed(holds.list({ subject }))
  const id = { id: asked.id, nonce: asked.nonce, fingerprint: 'f', ttlMs: ID_MS }
  if (kind === 'hold') {
    const hold: HoldOptions = { ttlMs: HOLD_MS, maxHolds: 2 }
    const slots = Number(slot && schema.layers[0]!.cells.at(-1)?.kind === 'concurrency')
    // Nothing but a slot, now and then.
    const tokens = slots > 0 && cost === 6 ? 0 : cost
    return counters.take({ subject, set: 0, quotas, costs: [tokens, slots], periods, id, hold })
  }
  const ref = { subject, id }
  if (kind === 'extend') return holds.extend({ ...ref, ttlMs: HOLD_MS + MINUTE_MS })
  if (kind === 'grow') return holds.grow({ ...ref, set: 0, costs: [cost, 0], quotas, periods })
  const as = kind === 'commit' ? 'committed' : 'cancelled'
  const actual = cost === 3 ? undefined : [cost * 2 - 2]
  return holds.settle({ ...ref, set: 0, as, actual, overrun, maxOverrun: [5], quotas, periods })
}

describe.runIf(redisTests)('batches with holds', () => {
  const redis = useRedis()

  /** The stored rows without records: growths have names that are drawn. */
  async function contents(prefix: string): Promise<Record<string, string>> {
    const names = (await redis.admin.keys(`{${prefix}}*`)).filter((name) => !name.startsWith(`{${prefix}}@`)).sort()
    const values = await Promise.all(names.map((name) => redis.admin.dumpBuffer(name)))
    return Object.fromEntries(names.map((name, i) => [name.slice(prefix.length + 2), values[i]?.toString('hex') ?? '']))
  }

  async function play(schema: StoreSchema, turns: readonly Turn[], seen: Seen): Promise<void> {
    const clock = manualClock()
    const memory = memoryStore({ clock }).open(schema)
    const { single, batched, close } = await twoStores(redis.port, clock, schema)
    const periods = new Periods()
    try {
      for (const { turnMs, asks } of turns) {
        clock.advance(turnMs)
        const calls = asks.map((asked) => [asked, periods.of(schema, asked, clock.now())] as const)
        const putTo =
          (counters: Counters) =>
          ([asked, within]: (typeof calls)[number]) =>
            put(counters, schema, asked, within)
        const expected = await oneByOne(calls, putTo(memory))
        await single.counters.holds?.sweep()
        const { open } = (await batched.counters.holds?.sweep()) ?? {}
        const one = await oneByOne(calls, putTo(single.counters))
        // What follows the record of a hold may take another call, before which nothing else is asked.
        const all = await inWaves(calls, ([{ kind }]) => BY_RECORD.includes(kind), putTo(batched.counters))
        expect(one).toEqual(expected)
        // A read of the list is two calls, between which others may come.
        const inOrder = asks.map(({ kind }) => kind !== 'list')
        expect(all.filter((_, index) => inOrder[index])).toEqual(expected.filter((_, index) => inOrder[index]))
        expect(await contents(batched.prefix)).toEqual(await contents(single.prefix))
        expect(open).toBeTypeOf('number')
        for (const [index, reply] of expected.entries()) {
          const { outcome = 'done' } = (reply ?? {}) as { outcome?: string }
          seen.add(`${asks[index]?.kind} ${outcome}`)
        }
      }
      expect((await single.counters.holds?.sweep())?.open).toBe(memory.holds?.sweep().open)
    } finally {
      await close()
    }
  }

  // Few histories grow a hold that is still open.
  const ofOne = {
    subject: 'a',
    layers: HOLD_LAYERS,
    cost: 1,
    id: 'i',
    nonce: 'n',
    limits: 0,
    overrun: 'charge',
  } as const
  const each = (kind: Ask['kind']): Ask => ({ ...ofOne, kind, slot: false, isBehind: 0 })
  const GROWN: Turn[] = [
    { turnMs: 0, asks: [each('hold'), each('grow')] },
    { turnMs: 1, asks: [each('grow'), each('extend'), each('commit'), each('grow')] },
  ]

  it('a random batch with holds gives the answers of single calls and of the memory store', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const seen = new Seen()
    const history = fc.tuple(fc.constantFrom(...SCHEMAS), fc.array(turn, { minLength: 2, maxLength: 8 }))
    await fc.assert(
      fc.asyncProperty(history, ([schema, turns]) => play(schema, turns, seen)),
      // A counterexample is shrunk for so long, and then reported.
      {
        numRuns: RUNS,
        examples: [[[SCHEMAS[0]!, GROWN]]],
        interruptAfterTimeLimit: TIMEOUT_MS / 2,
        markInterruptAsFailure: true,
      },
    )
    for (const name of [
      'take admitted',
      'take refused',
      'take stale',
      'hold admitted',
      'hold refused',
      'hold duplicate',
      'extend held',
      'extend unknown',
      'grow held',
      'commit settled',
      'commit unknown',
    ]) {
      expect(seen.of(name), name).toBeGreaterThan(0)
    }
  })
})
