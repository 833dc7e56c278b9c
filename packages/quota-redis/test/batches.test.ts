import { memoryStore } from '@scoregw/quota'
import { cellsIn, type RowLayout, windowCell } from '@scoregw/quota/internal'
import type { Counters, ReservationId, StoreSchema, TakeReply, TakeRequest } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Keys } from '../src/keys/keys.ts'
import { useRedis } from './support/cleanups.ts'
import { redisTests } from './support/redis-server.ts'
import { inWaves, oneByOne, Seen, sameQuotas, twoStores } from './support/scenes.ts'
import { limitsOf } from './support/schemas.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const RUNS = deep ? 20_000 : 80
const TIMEOUT_MS = 60_000 + 30 * RUNS
const SUBJECTS = ['a', 'b']
/** Of a record. */
const MARK_BYTES = 8

const WINDOWS = [
  { label: '1m', lengthMs: 60_000 },
  { label: '1h', lengthMs: 3_600_000 },
  { label: '1d', lengthMs: 86_400_000 },
]
const CELLS = cellsIn(
  ['tokens'],
  WINDOWS.map((window) => windowCell(window)),
)

function schemaOf(windows: number): StoreSchema {
  const layers = [
    { name: 'site', shared: true },
    { name: 'personal', shared: false },
    { name: 'all', shared: true },
  ]
  return uniform(['tokens'], CELLS.slice(0, windows), layers)
}

/** Few of them, so that takes under the same limits follow each other. */
const LIMITS = [
  [12, 12, 12, 12, 12, 12, 12, 12, 12],
  [7, 12, 12, 12, 12, 7, 12, 12, 12],
  [12, 12, 9, 5, 12, 12, 12, 12, 6],
  [0, 12, 12, 12, 12, 12, 12, 12, 12],
  [Number.POSITIVE_INFINITY, 12, 12, Number.POSITIVE_INFINITY, 12, 12, 12, 12, 12],
  Array.from({ length: 9 }, () => Number.POSITIVE_INFINITY),
]

/** Under an id the same is sent again. */
const ID_LAYERS = [0, 1]

interface RowSeed {
  readonly layer: number
  readonly subject: string
  readonly closed: boolean
  /** Start, from now, and tokens used, of up to three windows. */
  readonly windows: readonly { readonly startsInMs: number; readonly used: number }[]
}

/** Rows as a store may have left them at any time, by any clock. */
const rowSeed: fc.Arbitrary<RowSeed> = fc.record({
  layer: fc.nat(2),
  subject: fc.constantFrom(...SUBJECTS),
  closed: fc.boolean(),
  windows: fc.tuple(...WINDOWS.map(({ lengthMs }) => windowSeed(lengthMs))),
})

function windowSeed(lengthMs: number): fc.Arbitrary<RowSeed['windows'][number]> {
  const ending = [-lengthMs - 1, -lengthMs, -lengthMs + 1]
  return fc.record({
    startsInMs: fc.constantFrom(...ending, -1, 0, 1, -1, 0, 1, 4_999, 5_000, 5_001, 31_536_000_000),
    used: fc.oneof(
      { weight: 5, arbitrary: fc.nat(12) },
      fc.constantFrom(Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER),
    ),
  })
}

interface Ask {
  readonly kind: 'take' | 'settle' | 'reset' | 'read'
  readonly subject: string
  readonly layers: readonly number[]
  readonly cost: number
  readonly limits: readonly number[]
  readonly id: ReservationId | undefined
  readonly as: 'committed' | 'cancelled'
  /** Which earlier take is settled, and the tokens that go back. */
  readonly of: number
}

const reservationId: fc.Arbitrary<ReservationId> = fc.record({
  id: fc.constantFrom('i', 'j'),
  nonce: fc.constantFrom('x', 'y'),
  fingerprint: fc.constantFrom('f', 'f', 'f', 'g'),
  ttlMs: fc.constant(90_000),
})

const ask: fc.Arbitrary<Ask> = fc.record({
  kind: fc.constantFrom('take', 'take', 'take', 'take', 'take', 'settle', 'reset', 'read'),
  subject: fc.constantFrom(...SUBJECTS),
  layers: fc.constantFrom([0, 1], [0, 1], [0, 1, 2], [1], [0]),
  cost: fc.constantFrom(1, 1, 1, 2, 3),
  limits: fc.constantFrom(...LIMITS),
  id: fc.option(reservationId, { nil: undefined, freq: 2 }),
  as: fc.constantFrom('committed', 'cancelled'),
  of: fc.nat(7),
})

interface History {
  readonly windows: number
  readonly seeds: readonly RowSeed[]
  /** Batches, each with how far the clock is turned before it. */
  readonly batches: readonly { readonly turnMs: number; readonly asks: readonly Ask[] }[]
}

const history: fc.Arbitrary<History> = fc.record({
  windows: fc.constantFrom(1, 2, 3, 3, 3),
  seeds: fc.array(rowSeed, { maxLength: 6 }),
  batches: fc.array(
    fc.record({
      turnMs: fc.constantFrom(0, 1, -3_000, -6_000, 59_999, 60_000, 90_000, 3_600_000),
      asks: fc.array(ask, { minLength: 1, maxLength: 12 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
})

/** A take under an id or not, and what it was answered. */
interface Taken {
  readonly request: TakeRequest
  readonly reply: TakeReply
}

/** Puts one question to a store; settlements are of takes that were answered by the store in memory. */
function put(store: Counters, schema: StoreSchema, asked: Ask, taken: readonly Taken[]): unknown {
  const { subject, layers, cost } = asked
  if (asked.kind === 'read') return store.read({ subject, set: 0, layers })
  if (asked.kind === 'reset') return store.reset({ subject, limits: limitsOf(schema, layers) })
  if (asked.kind === 'take') return store.take(takeRequest(schema, asked))
  const settled = taken.filter(isToSettle)
  const { request, reply } = settled[asked.of % Math.max(1, settled.length)] ?? {
    request: takeRequest(schema, asked),
    reply: { states: [] },
  }
  const states = reply.states.length > 0 ? reply.states : schema.sets[0]!.flatMap(() => [0, 0])
  return store.settle({
    subject: request.subject,
    set: 0,
    layers: request.quotas.layers,
    states,
    refunds: [Math.min(cost, request.costs[0]!)],
    as: asked.as,
    id: request.id,
  })
}

/** An id is settled by its holder, and holds the amounts of the last admission under it. */
function isToSettle({ request, reply }: Taken, index: number, all: readonly Taken[]): boolean {
  const isSame = (other: Taken): boolean =>
    other.reply.outcome === 'admitted' &&
    other.request.subject === request.subject &&
    other.request.id?.id === request.id?.id
  return reply.outcome === 'admitted' && (request.id === undefined || !all.slice(index + 1).some(isSame))
}

function takeRequest(schema: StoreSchema, { subject, layers: asked, cost, limits, id }: Ask): TakeRequest {
  const layers = id === undefined ? asked : ID_LAYERS
  const quotas = sameQuotas(layers, limits.slice(0, schema.sets[0]!.length))
  return { subject, set: 0, quotas, costs: [cost, 0], id }
}

function packed(seed: RowSeed, { width, hash }: RowLayout, now: number): Buffer {
  const bytes = Buffer.alloc(5 + 13 * width, 0)
  bytes[0] = 2
  bytes.writeUInt32LE(hash, 1)
  for (const [w, { startsInMs, used }] of seed.windows.slice(0, width).entries()) {
    const at = 5 + 7 * w
    bytes.writeUIntLE(now + startsInMs, 5 + 7 * width + 6 * w, 6)
    if (seed.closed) bytes.fill(255, at, at + 7)
    else {
      bytes.writeUIntLE(used % 2 ** 48, at, 6)
      bytes.writeUInt8(Math.floor(used / 2 ** 48), at + 6)
    }
  }
  return bytes
}

describe.runIf(redisTests)('batches of steps', () => {
  const redis = useRedis()

  async function seed(prefix: string, schema: StoreSchema, seeds: readonly RowSeed[], now: number): Promise<void> {
    const keys = new Keys(prefix, schema)
    for (const row of seeds) {
      await redis.admin.set(keys.row(row.layer, row.subject), packed(row, keys.layout.rows[0]!, now))
    }
  }

  /** Every row and record by its key without the prefix; records without their marks, which are drawn. */
  async function contents(prefix: string): Promise<Record<string, string>> {
    const names = (await redis.admin.keys(`{${prefix}}*`)).sort()
    const values = await Promise.all(
      names.map(async (name) => {
        const isRecord = name.startsWith(`{${prefix}}@`)
        return isRecord ? (await redis.admin.getBuffer(name))!.subarray(MARK_BYTES) : redis.admin.dumpBuffer(name)
      }),
    )
    return Object.fromEntries(names.map((name, i) => [name.slice(prefix.length + 2), values[i]?.toString('hex') ?? '']))
  }

  async function play({ windows, seeds, batches }: History, seen: Seen): Promise<void> {
    const schema = schemaOf(windows)
    const clock = manualClock()
    const store = memoryStore({ clock })
    // The last of several seeds of one row is the one that counts, in Redis as here.
    const rows = new Map(
      seeds.map(({ layer, subject, closed, windows: cells }) => {
        const key = schema.layers[layer]?.shared ? '' : subject
        const { name, cells: counted } = schema.layers[layer]!
        const list = counted.map(({ identity }, at) => {
          const { startsInMs, used } = cells[at]!
          return [identity, clock.now() + startsInMs, closed ? -1 : used]
        })
        return [`${layer} ${key}`, [name, key, list] as const]
      }),
    )
    store.restore({ format: 1, rows: [...rows.values()], ids: [] })
    const memory = store.open(schema)
    const { single, batched, close } = await twoStores(redis.port, clock, schema)
    try {
      for (const { prefix } of [single, batched]) await seed(prefix, schema, seeds, clock.now())
      const taken: Taken[] = []
      for (const { turnMs, asks } of batches) {
        clock.advance(turnMs)
        const calls = asks.map((asked) => {
          const before = [...taken]
          const answer = put(memory, schema, asked, before)
          if (asked.kind === 'take') {
            const reply = answer as TakeReply
            seen.add(reply.outcome)
            taken.push({ request: takeRequest(schema, asked), reply })
          }
          return { asked, before, answer }
        })
        // A settlement of an id that is taken in the same tick is decided a call later, before whatever is asked then.
        const together = await inWaves(
          calls,
          ({ asked }) => asked.kind === 'settle',
          ({ asked, before }) => put(batched.counters, schema, asked, before),
        )
        const expected = calls.map(({ answer }) => answer)
        expect(together, 'in one batch').toEqual(expected)
        const apart = await oneByOne(calls, ({ asked, before }) => put(single.counters, schema, asked, before))
        expect(apart, 'one by one').toEqual(expected)
      }
      expect(await contents(batched.prefix)).toEqual(await contents(single.prefix))
    } finally {
      await close()
    }
  }

  // A shared row that cannot be kept in memory for a run, beside one that is: the second must not use its old state.
  const take = { kind: 'take', subject: 'a', cost: 1, id: undefined, as: 'committed', of: 0 } as const
  const limits = new Array<number>(9).fill(12)
  const SHARED_ROW_AHEAD: History = {
    windows: 3,
    seeds: [
      {
        layer: 2,
        subject: 'a',
        closed: true,
        windows: [
          { startsInMs: 31_536_000_000, used: 0 },
          { startsInMs: -3_600_001, used: 0 },
          { startsInMs: -86_400_001, used: 0 },
        ],
      },
    ],
    batches: [
      {
        turnMs: 0,
        asks: [
          { ...take, layers: [0, 1, 2], limits },
          { ...take, layers: [0, 1, 2], limits },
          { ...take, layers: [0, 1], limits },
        ],
      },
      { turnMs: 0, asks: [{ ...take, layers: [0, 1], limits }] },
    ],
  }

  // A window that opens later than a clock may be ahead: what goes back is looked for at the start that stands in the row.
  const limited = { ...take, layers: [0, 1], limits }
  const withId = { ...limited, id: { id: 'i', nonce: 'x', fingerprint: 'f', ttlMs: 90_000 } } as const
  const OPENED_AHEAD: History = {
    windows: 1,
    seeds: [{ layer: 0, subject: 'a', closed: true, windows: [{ startsInMs: 5_000, used: 0 }] }],
    batches: [
      { turnMs: 1, asks: [limited, { ...limited, kind: 'reset' }, withId] },
      { turnMs: 0, asks: [{ ...limited, kind: 'settle', of: 3 }, limited] },
    ],
  }

  // A closed window that starts as far ahead as a clock may be: the first take opens it further ahead still, so the second has
  // to move it, and the record of an id has to name where it was moved to.
  const unlimited = { ...limited, limits: limits.map(() => Number.POSITIVE_INFINITY) }
  const opensAhead = (layer: number, batches: readonly (readonly Ask[])[]): History => ({
    windows: 1,
    seeds: [{ layer, subject: 'a', closed: true, windows: [{ startsInMs: 5_000, used: 0 }] }],
    batches: batches.map((asks) => ({ turnMs: 0, asks })),
  })
  const OPENED_TOO_FAR_AHEAD = [
    opensAhead(0, [
      [unlimited, { ...unlimited, id: withId.id }, limited],
      [
        { ...limited, kind: 'settle', of: 1 },
        { ...limited, cost: 10 },
      ],
    ]),
    // A row that all subjects share, and one of the subject's own.
    ...[0, 1].map((layer) => opensAhead(layer, [[limited, { ...limited, cost: 12 }]])),
  ]

  // Whatever else is played: an id that is taken, taken again, taken for something else, cancelled, and taken after it; and
  // a take for which nothing is left.
  const UNDER_AN_ID: History = {
    windows: 1,
    seeds: [],
    batches: [
      {
        turnMs: 0,
        asks: [
          { ...limited, id: withId.id },
          { ...limited, id: { ...withId.id, nonce: 'y' } },
          { ...limited, id: { ...withId.id, fingerprint: 'g' } },
          { ...limited, limits: limits.map(() => 0) },
        ],
      },
      { turnMs: 0, asks: [{ ...limited, kind: 'settle', as: 'cancelled' }] },
      { turnMs: 0, asks: [{ ...limited, id: withId.id }] },
    ],
  }

  it('a random batch gives the answers of single calls and of the core’s row functions', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const seen = new Seen()
    await fc.assert(
      fc.asyncProperty(history, (each) => play(each, seen)),
      {
        numRuns: RUNS,
        examples: [SHARED_ROW_AHEAD, OPENED_AHEAD, ...OPENED_TOO_FAR_AHEAD, UNDER_AN_ID].map((each) => [each]),
      },
    )
    for (const outcome of ['admitted', 'refused', 'duplicate', 'cancelled', 'conflict']) {
      // Few of a short run, beside those of the example.
      expect(seen.of(outcome), outcome).toBeGreaterThanOrEqual(deep ? RUNS / 80 : 1)
    }
  })
})
