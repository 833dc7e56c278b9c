import { postgresTests } from '@scoregw/postgres-server'
import { add, cellsIn, close, Instant, Layout, reanchor, refund, view, windowCell } from '@scoregw/quota/internal'
import type { CellSchema, StoreSchema, TakeReply, TakeRequest } from '@scoregw/quota/store'
import { uniform, withCells } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
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
const SEED = Number(process.env.QUOTA_TEST_SEED ?? Date.now() % 1e9)
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

/** Rows by layer and key, as the core's functions leave them. */
type Rows = ReadonlyMap<string, readonly number[]>

/** One machine that does one thing after the other. */
class Model {
  readonly #schema: StoreSchema
  readonly #layout: Layout

  constructor(schema: StoreSchema) {
    this.#schema = schema
    this.#layout = new Layout(schema)
  }

  keys({ subject, quotas }: Pick<TakeRequest, 'subject' | 'quotas'>): string[] {
    return quotas.layers.map((index) => {
      const { name, by = name, shared } = this.#schema.layers[index]!
      return `${name} ${shared ? '' : (subject as Record<string, string>)[by]}`
    })
  }

  take(rows: Rows, request: TakeRequest, now: number): readonly [Rows, string] {
    const { quotas, periods, costs } = request
    const layout = this.#layout
    const instant = new Instant(layout)
    if (!instant.moveTo(now, periods)) return [rows, 'stale ']
    const keys = this.keys(request)
    const here = keys.map((key) => [...(rows.get(key) ?? Array<number>(2 * layout.rows[0]!.size).fill(-1))])
    const each = (visit: (cells: number[], i: number, at: number, cost: number) => void): void => {
      for (const [slot, cells] of here.entries()) {
        const { first, size, units } = layout.rows[quotas.layers[slot]!]!
        for (let c = 0; c < size; c++) visit(cells, 2 * c, first + c, costs[units[c]!]!)
      }
    }
    let fits = true
    const before = layout.blank.slice()
    each((cells, i, at) => view(cells, i, instant.after[at]!, now, before, 2 * at))
    each((_, __, at, cost) => {
      if (cost > 0 && layout.usedAt(before, at, quotas.rates, now) + cost > quotas.limits[at]!) fits = false
    })
    each((cells, i, at, cost) => {
      if (cost === 0) return
      if (!fits) return reanchor(cells, i, instant.after[at]!, now)
      instant.roll(cells, i, at, quotas.rates)
      add(cells, i, cost)
    })
    const states = layout.blank.slice()
    each((cells, i, at) => view(cells, i, instant.after[at]!, now, states, 2 * at))
    const next = new Map(rows)
    for (const [slot, key] of keys.entries()) if (fits || rows.has(key)) next.set(key, here[slot]!)
    return [next, `${fits ? 'admitted' : 'refused'} ${states}`]
  }

  change(
    rows: Rows,
    of: Pick<TakeRequest, 'subject' | 'quotas'>,
    visit: (cells: number[], i: number, at: number) => void,
  ): Rows {
    const next = new Map(rows)
    for (const [slot, key] of this.keys(of).entries()) {
      const cells = [...(next.get(key) ?? [])]
      const { first, size } = this.#layout.rows[of.quotas.layers[slot]!]!
      for (let c = 0; c < size && cells.length > 0; c++) visit(cells, 2 * c, first + c)
      if (cells.length > 0) next.set(key, cells)
    }
    return next
  }

  /** The rows after some order of the takes in which each is answered as it was; `undefined`: there is none. */
  orderOf(rows: Rows, takes: readonly (readonly [TakeRequest, TakeReply])[], now: number): Rows | undefined {
    if (takes.length === 0) return rows
    const tried = new Set<string>()
    for (const take of takes) {
      const [request, { outcome, states }] = take
      const [next, answer] = this.take(rows, request, now)
      const id = `${this.keys(request)} ${request.costs} ${request.quotas.limits} ${request.quotas.rates} ${outcome} ${states}`
      if (tried.has(id) || unused(answer) !== unused(`${outcome} ${states}`)) continue
      tried.add(id)
      const end = this.orderOf(
        next,
        takes.filter((each) => each !== take),
        now,
      )
      if (end !== undefined) return end
    }
    return undefined
  }
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
    const model = new Model(schema)
    const layout = new Layout(schema)
    const rowCells = layout.rows[0]!.cells
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
    const hasBucket = rowCells.some(({ kind }) => kind === 'bucket')
    let rows: Rows = new Map()
    let periods: readonly number[] | undefined
    let revision = ''
    let known = ''
    const turnPeriods = (): void => {
      const start = Math.floor(clock.now() / DAY_MS) * DAY_MS
      periods =
        layout.calendars.length === 0
          ? undefined
          : layout.calendars.flatMap(() => [start, start + DAY_MS, start + 2 * DAY_MS])
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
        const end = model.orderOf(rows, takes, clock.now())
        if (end === undefined) return JSON.stringify({ now: clock.now(), rows: [...rows], takes })
        rows = end
        past.push(...takes.filter(([, { outcome }]) => outcome === 'admitted'))
      } else if (kind < 80 && past.length > 0) {
        const [request, { states }] = past[random(past.length)]!
        const refunds = [random(2), random(2)]
        const { subject: whose } = request
        await counters[random(2)]!.settle({ subject: whose, set: 0, layers, states, refunds, as: 'committed' })
        rows = model.change(rows, request, (cells, i, at) =>
          refund(cells, i, states[2 * at]!, refunds[layout.units[at]!]!, false),
        )
      } else if (kind < 84) {
        const whose = subject()
        const limits = [...layout.layerOf.keys()].filter((at) => layers.includes(layout.layerOf[at]!))
        await counters[random(2)]!.reset({ subject: whose, limits })
        rows = model.change(rows, { subject: whose, quotas: quotas[0]! }, (cells, i) => close(cells, i))
      } else if (kind < 87) {
        // Another policy charges a window that both have, and one of its own.
        const request: TakeRequest = {
          subject: subject(),
          set: 0,
          quotas: { layers, limits: schema.layers.flatMap(() => [1e9, 1e9]) },
          costs: [0, 1, 0],
        }
        const { states } = await stores[random(2)]!.open(other).take(request)
        const shared = other.layers[0]!.cells.findIndex(({ label }) => label === 'b')
        const own = rowCells.findIndex(({ label }) => label === 'b')
        const next = new Map(rows)
        for (const [slot, key] of model.keys(request).entries()) {
          const cells = [...(rows.get(key) ?? Array<number>(2 * rowCells.length).fill(-1))]
          const at = 2 * (2 * layers[slot]! + shared)
          cells.splice(2 * own, 2, states[at]!, states[at + 1]!)
          next.set(key, cells)
        }
        rows = next
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
        const starts = [...rows.values()].flatMap((cells) =>
          layout.rows[0]!.lengthsMs.map((ms, c) => cells[2 * c]! + ms),
        )
        const end = (starts[random(Math.max(1, starts.length))] ?? 0) - random(2)
        if (random(2) === 0 && end > clock.now() && end < clock.now() + DAY_MS) clock.advance(end - clock.now())
        if (random(2) === 0) turnPeriods()
      }
    }
    return undefined
  }

  it(`${RUNS} random histories of two processes are linearizable`, { timeout: 3_600_000 }, async () => {
    expect(await play(RUNS, SEED, (text) => text)).toBeUndefined()
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
