import { postgresTests } from '@scoregw/postgres-server'
import { manualClock } from '@scoregw/quota-testkit'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AuditLog } from '../src/audit/audit.ts'
import { ChartRepository } from '../src/charts/chart-repository.ts'
import { SAMPLE_CHARTS } from '../src/charts/sample-charts.ts'
import { type DatabaseOptions, openDatabase } from '../src/db/connect.ts'
import type { Db } from '../src/db/schema.ts'
import { HttpError } from '../src/http/http-error.ts'
import { PlayerScores } from '../src/scores/player-scores.ts'
import { ScoreService } from '../src/scores/score-service.ts'
import { syncBody } from '../src/sync/bodies.ts'
import { SyncService } from '../src/sync/sync-service.ts'
import { AdminUsers } from '../src/users/admin-users.ts'
import { UserRepository } from '../src/users/user-repository.ts'
import { START, tempDir } from './support/gateway.ts'
import { testDatabase } from './support/postgres.ts'
import { type ModelPlay, type ModelRecord, type ModelRequest, SyncModel } from './support/sync-model.ts'

const isDeep = process.env.QUOTA_TEST_DEEP === '1'
const SONGS = [101, 102, 103]
const LEVELS = [2, 3] as const
const COMBO = ['', 'fc', 'fcp', 'ap', 'app']
const SYNC = ['', 'fs', 'fsp', 'fsd', 'fsdp', 'sync']

/** The gateway's parts that write scores, on a database. */
class Parts {
  readonly clock = manualClock(START)
  readonly #options: DatabaseOptions
  #db: Db | undefined

  constructor(options: DatabaseOptions) {
    this.#options = options
  }

  get db(): Db {
    return this.#db!
  }

  get scores(): ScoreService {
    return new ScoreService(this.db, new ChartRepository(this.db), this.clock)
  }

  sync!: SyncService

  /** As when the process is another one: nothing is left but the database. */
  async restart(): Promise<void> {
    await this.#db?.destroy()
    this.#db = await openDatabase(this.#options)
    this.sync = new SyncService(this.#db, this.clock)
  }

  async link(user: string, qq: number | null): Promise<void> {
    const onLinked = (userId: string, linked: number): Promise<void> => this.sync.adopt(userId, linked)
    const audit = new AuditLog(this.db, this.clock)
    await new AdminUsers({ db: this.db, clock: this.clock, audit, onLinked }).put(user, { qq }, 'test')
  }
}

const play: fc.Arbitrary<ModelPlay> = fc.record({
  achievement: fc.constantFrom(0, 500_000, 1_005_700),
  dxScore: fc.constantFrom(0, 100, 200),
  combo: fc.constantFrom(0, 1, 4),
  sync: fc.constantFrom(0, 1, 5),
})
const chart = fc.tuple(fc.constantFrom(...SONGS), fc.constantFrom(...LEVELS)).map((parts) => parts.join(':'))
const record: fc.Arbitrary<ModelRecord> = fc.record({
  chart,
  play: fc.option(play, { nil: undefined, freq: 8 }),
})
const records = fc.array(record, { maxLength: 4 })
const player = fc.constantFrom(0, 1)

/** What the snapshots of a run are; the actions send their chunks in any order, once, twice or never. */
const plan = fc.array(
  fc.record({
    isFull: fc.boolean(),
    isIndexed: fc.boolean(),
    hasTotal: fc.boolean(),
    chunks: fc.array(records, { minLength: 1, maxLength: 3 }),
  }),
  { minLength: 3, maxLength: 3 },
)

const action = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant('chunk' as const), player, snapshot: fc.nat(2), chunk: fc.nat(2) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('push' as const), player, records }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('upsert' as const, 'import' as const, 'remove' as const),
      player,
      chart,
      play,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('link' as const), player, qq: fc.constantFrom(0, 1, null) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(10, 29, 30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
)
type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never
type Action = Drawn<typeof action>
type Plan = Drawn<typeof plan>

function bodyOf({ qq, id, isFull, isFinal, index, total, records: list }: ModelRequest): unknown {
  return {
    qq,
    ...(id === undefined ? {} : { snapshot_id: id }),
    full_snapshot: isFull,
    snapshot_final: isFinal,
    chunk_index: index,
    chunk_total: total,
    records: list.map(({ chart: key, play: each }) => {
      const [song_id, level_index] = key.split(':').map(Number)
      if (each === undefined) return { song_id, level_index }
      const { achievement, dxScore, combo, sync } = each
      return { song_id, level_index, achievements: achievement / 10_000, dxScore, fc: COMBO[combo], fs: SYNC[sync] }
    }),
  }
}

function chunkRequest(plans: Plan, qq: number, snapshot: number, chunk: number): ModelRequest {
  const { isFull, isIndexed, hasTotal, chunks } = plans[snapshot]!
  const index = chunk % chunks.length
  return {
    qq,
    id: `s${snapshot}`,
    isFull,
    isFinal: index === chunks.length - 1,
    index: isIndexed ? index : undefined,
    total: hasTotal && isIndexed ? chunks.length : undefined,
    records: chunks[index]!,
  }
}

/** A chart whose score is stored, and that two faulty records name. */
const namedTwice: [Plan, Action[]] = [
  Array(3).fill({
    isFull: true,
    isIndexed: false,
    hasTotal: false,
    chunks: [
      [{ chart: '102:2', play: { achievement: 500_000, dxScore: 100, combo: 0, sync: 0 } }],
      [
        { chart: '102:2', play: undefined },
        { chart: '102:2', play: undefined },
      ],
    ],
  }),
  [0, 1].map((chunk) => ({ kind: 'chunk', player: 0, snapshot: 0, chunk })),
]

/** One run: users and players of its own in a database that others have used. */
class Run {
  readonly #parts: Parts
  readonly #plans: Plan
  readonly #model = new SyncModel()
  readonly #users: readonly string[]
  readonly #players: readonly number[]

  constructor(parts: Parts, plans: Plan, number: number) {
    this.#parts = parts
    this.#plans = plans
    this.#users = [0, 1].map((each) => `user-${number}-${each}`)
    this.#players = [0, 1].map((each) => 10_000 + 2 * number + each)
  }

  async begin(): Promise<void> {
    const users = new UserRepository(this.#parts.db, this.#parts.clock)
    for (const id of this.#users) await users.create({ id, name: id, role: 'player' })
    await this.do({ kind: 'link', player: 0, qq: 0 })
  }

  async do(each: Action): Promise<void> {
    const { clock } = this.#parts
    if (each.kind === 'restart') await this.#parts.restart()
    else if (each.kind === 'wait') clock.advance(each.minutes * 60_000)
    else if (each.kind === 'link') await this.#link(this.#users[each.player]!, each.qq)
    else if (each.kind === 'chunk') {
      await this.#sync(chunkRequest(this.#plans, this.#players[each.player]!, each.snapshot, each.chunk))
    } else if (each.kind === 'push') {
      const rest = { id: undefined, isFull: false, isFinal: false, index: undefined, total: undefined }
      await this.#sync({ qq: this.#players[each.player]!, records: each.records, ...rest })
    } else await this.#write(each.kind, this.#users[each.player]!, each.chart, each.play)
    await this.#compare()
  }

  async #link(user: string, index: number | null): Promise<void> {
    const qq = index === null ? null : this.#players[index]!
    const linked = await outcome(this.#parts.link(user, qq).then(() => true))
    expect(linked).toBe(this.#model.link(user, qq) || 'conflict')
  }

  async #sync(request: ModelRequest): Promise<void> {
    const expected = this.#model.sync(request, this.#parts.clock.now())
    const answer = await outcome(this.#parts.sync.sync(syncBody.parse(bodyOf(request))))
    if (typeof expected === 'string') expect(answer).toBe(expected)
    else expect(answer).toMatchObject(expected)
  }

  async #write(kind: 'upsert' | 'import' | 'remove', user: string, key: string, each: ModelPlay): Promise<void> {
    const { scores } = this.#parts
    const [musicId = 0, level] = key.split(':').map(Number)
    const { achievement, dxScore, combo: comboStatus, sync: syncStatus } = each
    const dxScoreSource = dxScore === 0 ? ('unknown' as const) : ('exact' as const)
    const worth = { musicId, level: level as 2, achievement, dxScore, dxScoreSource, comboStatus, syncStatus }
    if (kind === 'remove') {
      await outcome(scores.remove(user, [worth]))
      this.#model.remove(user, key)
    } else if (kind === 'upsert') {
      await scores.upsert(user, [
        { play: worth, chart: (await new ChartRepository(this.#parts.db).ofMusic([worth])).get(key)! },
      ])
      this.#model.overwrite(user, key, each)
    } else {
      await scores.importBest(user, { source: 'lx', plays: [{ ...worth, playCount: null, playedAt: null }] })
      this.#model.improve(user, key, each)
    }
  }

  async #compare(): Promise<void> {
    const { db } = this.#parts
    for (const userId of this.#users) await this.#compareOwner(userId, new PlayerScores(db, { userId }))
    for (const qq of this.#players) await this.#compareOwner(`qq ${qq}`, new PlayerScores(db, { qq }))
  }

  async #compareOwner(owner: string, stored: PlayerScores): Promise<void> {
    const entries = (await stored.all()).map((score) => {
      const { musicId, level, achievement, dxScore, comboStatus: combo, syncStatus: sync, source } = score
      return [`${musicId}:${level}`, { achievement, dxScore, combo, sync, source }] as const
    })
    const expected = [...this.#model.scoresOf(owner)].map(([key, { whole: _, ...score }]) => [key, score] as const)
    expect(new Map(entries)).toEqual(new Map(expected))
  }
}

async function outcome<T>(work: Promise<T>): Promise<T | string> {
  try {
    return await work
  } catch (error) {
    if (error instanceof HttpError) return error.code
    throw error
  }
}

async function agree(options: DatabaseOptions, numRuns: number): Promise<void> {
  const parts = new Parts(options)
  await parts.restart()
  onTestFinished(() => parts.db.destroy())
  await new ChartRepository(parts.db).addMissing(SAMPLE_CHARTS)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(plan, fc.array(action, { minLength: 10, maxLength: 40 }), async (plans, actions) => {
      const run = new Run(parts, plans, runs++)
      await run.begin()
      for (const each of actions) await run.do(each)
    }),
    { numRuns: isDeep ? numRuns * 50 : numRuns, examples: [namedTwice] },
  )
}

const TIMEOUT_MS = isDeep ? 1_200_000 : 60_000

describe('the sync protocol with losses, repeats, restarts and other writes', () => {
  it('any order of requests leaves the model’s state on the embedded database', { timeout: TIMEOUT_MS }, async () => {
    await agree({ dataDir: tempDir(), databaseUrl: undefined }, 8)
  })

  it.runIf(postgresTests)(
    'any order of requests leaves the model’s state on PostgreSQL',
    { timeout: TIMEOUT_MS },
    async () => {
      const { url: databaseUrl } = await testDatabase()
      await agree({ dataDir: tempDir(), databaseUrl }, 4)
    },
  )
})
