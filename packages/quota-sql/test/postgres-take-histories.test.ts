import { postgresTests } from '@scoregw/postgres-server'
import type { Clock } from '@scoregw/quota'
import { cellsIn, windowCell } from '@scoregw/quota/internal'
import type { CellSchema, StoreSchema, SyncCounters, TakeReply, TakeRequest } from '@scoregw/quota/store'
import { uniform, withCells } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import { copyOf, ModelCounters, type ModelState, ModelWindows, modelStore } from '@scoregw/quota-testkit/model'
import { testSeed } from '@scoregw/server-kit'
import type pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresStore, type SqlCounters } from '../src/index.ts'
import { TestDatabase } from './support/database.ts'
import { apart } from './support/schemas.ts'

const deep = process.env.QUOTA_TEST_DEEP === '1'
const RUNS = deep ? 1_000 : 12
/** Most histories until the lack of a guard shows. */
const RUNS_WITHOUT = deep ? 5_000 : 300
const ROUNDS = 25
const DAY_MS = 86_400_000
const BUCKET_MS = 4_000
const UNITS = ['requests', 'tokens']

/** Guards of the statement, each as it is and as it would be without it. Without any of them some history is wrong. */
const GUARDS: Readonly<Record<string, readonly [guard: RegExp, without: string]>> = {
  'room for what is charged': [/ <= \$\d+::bigint/g, ' <= 9e15'],
  'windows that ended': [/(r\.s\d+) > excluded\.s\d+ - \d+ then/g, '$1 > -2 then'],
  'windows that a reset closed': [/\(r\.u\d+ >= 0 or r\.s\d+ = -1\)/g, 'true'],
  'starts far ahead': [/r\.s\d+ <= \S+(?: - \d+\))? \+ 5000/g, 'true'],
  'rows of other policies': [/r\.layout = \d+ and/g, 'true and'],
  'room in all rows': [/1 \/ \(w\d+\.u\d+ is not null\)::int/g, '1'],
  'the revision of the settings': [/ and coalesce\(\(select s\.revision.*?\), ''\) = \$\d+::text/gs, ''],
  'periods of the calendar': [/ and n\.now >= \$\d+::bigint and n\.now < \$\d+::bigint/g, ''],
  'a bucket that is full': [/ and \(\$\d+::bigint = 0 or .*? < r\.u\d+\)/gs, ''],
  'a bucket in the millisecond of its start': [/ or \(\S+ - r\.s\d+\) <= 0/g, ''],
  'the move of a bucket': [/\$\d+::bigint > 0 and \(\S+ - r\.s\d+\) >= \d+/g, 'false'],
  'the end of a bucket': [/\(r\.s\d+ > excluded\.s\d+ - \d+ and/g, '(true and'],
  'products above a bigint': [/::numeric/g, ''],
}

/** Those that are missed within seconds; for the others it takes a minute to come upon the history. */
const QUICK: readonly string[] = [
  'room for what is charged',
  'room in all rows',
  'windows that a reset closed',
  'rows of other policies',
  'a bucket that is full',
  'the end of a bucket',
]

function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** A window that was opened and given back whole says no more than one that is not open. */
function unused(answer: string): string {
  return answer.replace(/-?\d+,0(?=,|$)/g, '-1,0')
}

/** The testkit's model in a state: one machine that does one thing after the other. Calls change the state. */
function machine(clock: Clock, state: ModelState, schema: StoreSchema): SyncCounters {
  class InState extends ModelCounters {
    constructor(own: Clock) {
      super(own, state)
    }
  }
  return modelStore(clock, undefined, InState).open(schema)
}

type Take = readonly [TakeRequest, TakeReply]

/** The state after some order of the takes in which each is answered as it was; `undefined`: there is none. */
function afterAll(
  clock: Clock,
  state: ModelState,
  schema: StoreSchema,
  takes: readonly Take[],
): ModelState | undefined {
  if (takes.length === 0) return state
  const tried = new Set<string>()
  for (const take of takes) {
    const [request, { outcome, states }] = take
    const next = copyOf(state)
    const answer = machine(clock, next, schema).take(request)
    const id = JSON.stringify([request, outcome, states])
    if (tried.has(id) || unused(`${answer.outcome} ${answer.states}`) !== unused(`${outcome} ${states}`)) continue
    tried.add(id)
    const others = takes.filter((each) => each !== take)
    const end = afterAll(clock, next, schema, others)
    if (end !== undefined) return end
  }
  return undefined
}

describe.runIf(postgresTests)('random histories of the statement of a take', () => {
  const database = new TestDatabase()

  /** Plays histories of two processes; `undefined`, or what one of them was that no machine has. */
  async function play(runs: number, seed: number, mutate: (text: string) => string): Promise<string | undefined> {
    const clock = manualClock()
    const admin = database.pool({ max: 1 })
    const open = () => {
      const pool = database.pool({ max: 2 })
      pool.on('connect', (client) => {
        const query = client.query.bind(client)
        client.query = ((config: pg.QueryConfig, ...more: never[]) => {
          const isTake = config.text.includes("set_config('lock_timeout'")
          return (query as (...all: unknown[]) => unknown)(
            isTake ? { ...config, text: mutate(config.text) } : config,
            ...more,
          )
        }) as typeof client.query
      })
      const store = postgresStore({ pool, deadlineMs: 10_000, testClock: clock })
      onTestFinished(() => store.close())
      return store
    }
    const stores = [open(), open()]
    const random = randomFrom(seed)
    await admin.query('delete from quota_rows')
    for (let run = 0; run < runs; run++) {
      const windows = [
        windowCell({ label: 'a', lengthMs: 60_000 }, 'requests'),
        windowCell({ label: 'b', lengthMs: 300_000 }),
        ...(random(3) === 0 ? [windowCell({ label: 'd', every: 'day', timeZone: 'UTC' })] : []),
        ...(random(2) === 0 ? [windowCell({ label: 'c', lengthMs: BUCKET_MS, burst: 1 })] : []),
      ]
      const names = random(3) === 0 ? ['user', 'team'] : ['user']
      const layers = [...names.map((name) => ({ name, shared: false })), { name: 'site', shared: true }]
      const schema = apart(uniform(UNITS, cellsIn(UNITS, windows), layers), `run-${seed}-${run}`)
      const other = withCells(
        schema,
        cellsIn(UNITS, [windowCell({ label: 'b', lengthMs: 300_000 }), windowCell({ label: 'x', lengthMs: 9_000 })]),
      )
      const failure = await playOne({ schema, other, stores, random, clock, admin })
      if (failure !== undefined) return `seed ${seed}, run ${run}: ${failure}`
    }
    return undefined
  }

  interface Played {
    readonly schema: StoreSchema
    /** Of another policy, whose rows have the same keys. */
    readonly other: StoreSchema
    readonly stores: readonly { open(schema: StoreSchema): SqlCounters }[]
    readonly random: (below: number) => number
    readonly clock: ReturnType<typeof manualClock>
    readonly admin: pg.Pool
  }

  async function playOne({ schema, other, stores, random, clock, admin }: Played): Promise<string | undefined> {
    const cells = schema.layers.flatMap((layer) => layer.cells)
    const calendars = cells.filter(({ kind }) => kind === 'calendar')
    const counters = stores.map((store) => store.open(schema))
    const layers = [schema.layers.map((_, index) => index), [0], schema.layers.map((_, index) => index)][random(3)]!
    const anyLimit = (): number => (random(10) === 0 ? Number.POSITIVE_INFINITY : 8 + random(60))
    /** The limit of a cell; of a bucket its burst, and as a rate its limit, now and then the highest. */
    const anyQuota = ({ kind }: CellSchema, isShared: boolean): { limit: number; rate: number } => {
      const limit = (kind === 'bucket' ? 8 + random(12) : anyLimit()) * (isShared ? 3 : 1)
      if (kind !== 'bucket' || random(10) === 0) return { limit, rate: 0 }
      return { limit: 1 + random(limit), rate: random(10) === 0 ? Number.MAX_SAFE_INTEGER : limit }
    }
    const quotas = [1, 2].map(() => {
      const all = schema.layers.flatMap(({ cells, shared }) => cells.map((cell) => anyQuota(cell, shared)))
      return { layers, limits: all.map(({ limit }) => limit), rates: all.map(({ rate }) => rate) }
    })
    const subject = () => Object.fromEntries(schema.layers.map(({ name, by = name }) => [by, `${by} ${random(3)}`]))
    const hasBucket = cells.some(({ kind }) => kind === 'bucket')
    let state: ModelState = { windows: {}, slots: {}, records: {} }
    let periods: readonly number[] | undefined
    let revision = ''
    let known = ''
    const turnPeriods = (): void => {
      const start = Math.floor(clock.now() / DAY_MS) * DAY_MS
      periods =
        calendars.length === 0 ? undefined : calendars.flatMap(() => [start, start + DAY_MS, start + 2 * DAY_MS])
    }
    turnPeriods()
    const past: (readonly [TakeRequest, TakeReply])[] = []
    await admin.query('delete from quota_settings')
    for (let round = 0; round < ROUNDS; round++) {
      // What comes back to a bucket is used up before it is full.
      if (hasBucket && random(2) === 0) clock.advance(random(BUCKET_MS / 2))
      const kind = random(100)
      if (kind < 72) {
        const requested = Array.from({ length: 1 + random(6) }, (): TakeRequest => {
          const costs = [random(3), 1 + random(4), 0]
          return {
            subject: subject(),
            set: 0,
            quotas: quotas[random(2)]!,
            costs,
            periods,
            settingsRevision: known,
          }
        })
        const replies = await Promise.all(requested.map((request) => counters[random(2)]!.take(request)))
        if (known !== revision) {
          if (replies.some(({ outcome }) => outcome !== 'stale')) return `not stale: ${JSON.stringify(replies)}`
          known = revision
          continue
        }
        const takes = requested.map((request, at) => [request, replies[at]!] as const)
        const end = afterAll(clock, state, schema, takes)
        if (end === undefined) return JSON.stringify({ now: clock.now(), state, takes })
        state = end
        past.push(...takes.filter(([, { outcome }]) => outcome === 'admitted'))
      } else if (kind < 80 && past.length > 0) {
        const [request, { states }] = past[random(past.length)]!
        const refunds = [random(2), random(2)]
        const settled = { subject: request.subject, set: 0, layers, states, refunds, as: 'committed' } as const
        await counters[random(2)]!.settle(settled)
        machine(clock, state, schema).settle(settled)
      } else if (kind < 84) {
        const layerOf = schema.layers.flatMap((layer, index) => layer.cells.map(() => index))
        const limits = [...layerOf.keys()].filter((at) => layers.includes(layerOf[at]!))
        const reset = { subject: subject(), limits }
        await counters[random(2)]!.reset(reset)
        machine(clock, state, schema).reset(reset)
      } else if (kind < 87) {
        // Another policy charges a window that both have, and one of its own.
        const request: TakeRequest = {
          subject: subject(),
          set: 0,
          quotas: { layers, limits: schema.layers.flatMap(() => [1e9, 1e9]) },
          costs: [0, 1, 0],
        }
        const { states } = await stores[random(2)]!.open(other).take(request)
        const due = machine(clock, state, other).take(request)
        if (unused(`${states}`) !== unused(`${due.states}`)) return JSON.stringify({ other: request, states, due })
      } else if (kind < 89) {
        revision = `revision ${random(1e6)}`
        await admin.query(
          `insert into quota_settings values ('', '', 1, $1, '{}')
           on conflict (layer, subject) do update set revision = excluded.revision`,
          [revision],
        )
      } else {
        const ahead = random(3) === 0 ? 25_000 : 1_500
        clock.advance(random(5) === 0 ? -random(9_000) : random(ahead))
        const ends = new ModelWindows(clock, state.windows).ends()
        const end = (ends[random(Math.max(1, ends.length))] ?? 0) - random(2)
        if (random(2) === 0 && end > clock.now() && end < clock.now() + DAY_MS) clock.advance(end - clock.now())
        if (random(2) === 0) turnPeriods()
      }
    }
    return undefined
  }

  it(`${RUNS} random histories of two processes are linearizable`, { timeout: 3_600_000 }, async () => {
    expect(await play(RUNS, testSeed, (text) => text)).toBeUndefined()
  })

  for (const [guard, [pattern, without]] of Object.entries(GUARDS)) {
    it.runIf(deep || QUICK.includes(guard))(
      `the histories find a fault without the guard: ${guard}`,
      { timeout: 3_600_000 },
      async () => {
        let found = 0
        const failure = await play(RUNS_WITHOUT, 7, (text) => {
          const mutant = text.replace(pattern, without)
          if (mutant !== text) found++
          return mutant
        }).catch(String)
        expect(found).toBeGreaterThan(0)
        expect(failure).toBeDefined()
      },
    )
  }
})
