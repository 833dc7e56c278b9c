// Takes on rows of any content. Each case is a number: it makes a scene (a policy, what its limits are at the moment, rows of
// any age, also damaged ones and such that another policy wrote) and two batches of takes on it. A model decides the same
// takes; then each reply, each byte of each row and the time that it is kept are compared.
import {
  type CellDefinition,
  CLOSED,
  cellOfIdentity,
  cellsIn,
  layoutOf,
  slotsCell,
  windowCell,
} from '@scoregw/quota/internal'
import type { Quotas, StoreSchema, TakeRequest } from '@scoregw/quota/store'
import { uniform } from '@scoregw/quota-histories'
import { manualClock } from '@scoregw/quota-testkit'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Keys } from '../src/keys/keys.ts'
import { newPrefix, openStore } from './store-harness.ts'
import { useRedis } from './support/cleanups.ts'
import { type Random, randomFrom } from './support/random.ts'
import { redisTests } from './support/redis-server.ts'
import { Seen } from './support/scenes.ts'
import {
  hashOf,
  listOf,
  orderedCells,
  rowBytes,
  type StoredRow,
  TakeModel,
  type Verdict,
} from './support/take-model.ts'

/** Batches in a run, two of them on the same rows. */
const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 5_000 : 150
const TIMEOUT_MS = 60_000 + 60 * RUNS

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** The clock's time: half past an hour, so that the hour of a calendar isn't over within the case. */
const HALF_PAST = 1_790_000_000_000 - (1_790_000_000_000 % HOUR_MS) + 30 * MINUTE_MS

const rolling = (label: string, lengthMs: number, unit?: string): CellDefinition =>
  windowCell({ label, lengthMs }, unit)
const calendar = (every: 'hour' | 'day', unit?: string): CellDefinition =>
  windowCell({ label: every, every, timeZone: 'UTC' }, unit)
const bucket = (label: string, lengthMs: number, unit?: string): CellDefinition =>
  windowCell({ label, lengthMs, burst: 1 }, unit)
const [SHORT, MID, LONG] = [rolling('5m', 5 * MINUTE_MS), rolling('2h', 2 * HOUR_MS), rolling('1d', DAY_MS)]

/** What policies count, and their limits. */
const SHAPES: readonly (readonly [units: readonly string[], limits: readonly CellDefinition[]])[] = [
  [['tokens'], [SHORT]],
  [['tokens'], [SHORT, MID, LONG]],
  [['tokens'], [SHORT, calendar('hour'), calendar('day')]],
  [['tokens'], [calendar('hour')]],
  [['tokens'], [bucket('10s', 10_000)]],
  [['tokens'], [bucket('5m', 5 * MINUTE_MS), MID, bucket('1d', DAY_MS)]],
  [
    ['tokens', 'usd'],
    [bucket('5m', 5 * MINUTE_MS, 'usd'), calendar('day'), bucket('30s', 30_000), slotsCell('running')],
  ],
  [['tokens'], [SHORT, MID, slotsCell('running')]],
  [
    ['requests', 'tokens', 'usd'],
    [rolling('5m', 5 * MINUTE_MS, 'requests'), MID, rolling('1d', DAY_MS, 'usd')],
  ],
  [
    ['tokens', 'usd'],
    [rolling('5m', 5 * MINUTE_MS, 'usd'), MID, rolling('1d', DAY_MS, 'usd')],
  ],
  [
    ['tokens', 'usd'],
    [SHORT, calendar('hour', 'usd'), calendar('day'), slotsCell('running')],
  ],
]
/** A limit that only another policy has. */
const OTHERS = [
  rolling('3d', 3 * DAY_MS),
  bucket('7m', 7 * MINUTE_MS),
  rolling('5m', 5 * MINUTE_MS, 'bytes'),
  slotsCell('others'),
]

const SITE = 0
const LAYERS = [
  { name: 'site', shared: true },
  { name: 'org', shared: false },
  { name: 'personal', shared: false },
  { name: 'all', shared: true },
]
/** The subjects' names by layer; a shared layer has one without a name. */
const SUBJECTS = [[''], ['o', 'p'], ['a', 'b', 'c', 'd', 'e'], ['']]
/** Which layers a take counts in, in its order. */
const APPLYING = [[2], [SITE], [2, SITE], [SITE, 2, 3], [1, 2], [2, 1, SITE], [SITE, 1, 3, 2]]
const REVISION = 'revision-of-22-letters'

interface Scene {
  readonly schema: StoreSchema
  /** The most that a row has used, and a half of the highest limit. */
  readonly most: number
  /** The limits and periods of different requests. */
  readonly terms: readonly { readonly quotas: Quotas; readonly periods: readonly number[] | undefined }[]
  /** The revision of the settings that requests name. */
  readonly follows: string | undefined
  readonly hasIds: boolean
}

/** A start and an amount as a store may have left them at any time, by any clock. */
function anyCell({ identity }: { identity: string }, most: number, { int, chance }: Random) {
  const { kind = 'rolling', lengthMs = HOUR_MS } = cellOfIdentity(identity) ?? {}
  const recent = HALF_PAST - int(0, Math.min(lengthMs, 30 * MINUTE_MS) - 1)
  if (kind === 'concurrency') return { identity, start: recent, used: chance(0.5) ? CLOSED : int(1, most) }
  const ended = [HALF_PAST - lengthMs + int(-1, 1), HALF_PAST - 5 * lengthMs, 0]
  const ahead = [HALF_PAST + int(0, 5_000), HALF_PAST + int(5_001, 9_000)]
  const start = [recent, recent, recent, ended[int(0, 2)]!, ahead[int(0, 1)]!][int(0, 4)]!
  return { identity, start, used: start === 0 || chance(0.1) ? CLOSED : int(0, most) }
}

/** A row; rarely one that can't be read: another type of Redis, or bytes that are no row, or a negative amount. */
function anyRow({ schema, most }: Scene, random: Random): StoredRow | undefined {
  const { int, chance } = random
  if (chance(0.2)) return undefined
  if (chance(0.04))
    return { cells: [], damaged: chance(0.3) ? 'hash' : Buffer.from(['damaged', '', '\x01'][int(0, 2)]!) }
  const own: { readonly identity: string }[] = schema.layers[0]!.cells.filter(() => chance(0.85))
  const isOther = chance(0.25)
  const limits = isOther ? [...own, ...OTHERS.filter(() => chance(0.5))] : schema.layers[0]!.cells
  const cells = limits.map((limit) => anyCell(limit, most, random))
  if (cells.length === 0) return undefined
  if (!chance(0.02)) return { cells: orderedCells(cells) }
  const damaged = { cells: orderedCells(cells.map((cell) => ({ ...cell, used: -2 }))) }
  return { cells: [], damaged: rowBytes(damaged) }
}

/** A policy, and up to three sets of limits and periods that its requests have. */
function anyScene({ int, chance, pick }: Random): Scene {
  const [units, limits] = pick(SHAPES)
  const schema = uniform(units, cellsIn(units, limits), LAYERS)
  const layout = layoutOf(schema)
  const most = pick([5, 20, 60])
  const terms = Array.from({ length: int(1, 3) }, () => {
    const layers = pick(APPLYING)
    const all = layout.cells.map(() => (chance(0.1) ? Number.POSITIVE_INFINITY : int(most / 2, 2 * most)))
    // A bucket's burst and rate differ, and sometimes it refills by nothing.
    const rates = layout.cells.map(({ kind }) => {
      const isBucket = kind === 'bucket'
      return isBucket && chance(0.9) ? pick([int(1, most), 4 * most, 99_999_999_977]) : 0
    })
    const periods = schema.layers.flatMap(({ cells }) => {
      // Periods that are over: of one, the next is current; of two, the take is stale.
      const behind = int(0, 24) === 0 ? 2 : Number(chance(0.2))
      const calendars = cells.filter(({ kind }) => kind === 'calendar')
      return calendars.flatMap(({ label }) => {
        const lengthMs = label === 'hour' ? HOUR_MS : DAY_MS
        const start = HALF_PAST - (HALF_PAST % lengthMs) - behind * lengthMs
        return [start, start + lengthMs, start + 2 * lengthMs]
      })
    })
    return { quotas: { layers, limits: all, rates }, periods: layout.calendars.length > 0 ? periods : undefined }
  })
  return { schema, most, terms, follows: chance(0.2) ? REVISION : undefined, hasIds: chance(0.4) }
}

/** A take: of one or several units, perhaps free, under an id, or a hold. */
function anyTake({ schema, terms, follows, hasIds }: Scene, nonce: string, { int, chance, pick }: Random): TakeRequest {
  const units = schema.units.length
  const amounts = schema.units.map(() => (units > 1 ? int(0, 6) : int(1, 6)))
  const hasSlots = schema.layers[0]!.cells.some(({ kind }) => kind === 'concurrency')
  const isHold = hasIds && chance(0.3)
  const number = int(1, 9)
  const id = {
    id: `i${number}`,
    nonce: chance(0.9) ? nonce : 'n',
    fingerprint: chance(0.9) ? 'f' : 'g',
    ttlMs: HOUR_MS,
  }
  const isUnderId = isHold || (hasIds && chance(0.6))
  const isFree = amounts.every((amount) => amount === 0)
  // Under an id the same is requested again.
  const { quotas, periods } = isUnderId ? terms[number % terms.length]! : pick(terms)
  const personal = isUnderId ? SUBJECTS[2]![number % SUBJECTS[2]!.length]! : pick(SUBJECTS[2]!)
  const subject = { org: pick(SUBJECTS[1]!), personal }
  const costs = [...amounts.map((amount, unit) => (isFree && !isUnderId && unit === 0 ? 1 : amount)), 0]
  if (isHold && hasSlots) costs[units] = int(0, 1)
  return {
    subject,
    set: 0,
    quotas,
    periods,
    costs,
    settingsRevision: follows,
    id: isUnderId ? id : undefined,
    hold: isHold ? { ttlMs: 3 * DAY_MS, maxHolds: 100 } : undefined,
  }
}

describe.runIf(redisTests)('random takes', () => {
  const redis = useRedis()

  async function seed(keys: Keys, model: TakeModel, each: Scene, random: Random): Promise<void> {
    for (const [layer, subjects] of SUBJECTS.entries()) {
      for (const name of subjects) {
        const key = keys.row(layer, { org: name, personal: name })
        const row = anyRow(each, random)
        if (row === undefined) continue
        model.seed(key, layer, { org: name, personal: name }, row)
        if (row.damaged === 'hash') await redis.admin.hset(key, 'f', 'v')
        else if (row.damaged !== undefined) await redis.admin.set(key, row.damaged)
        else {
          await redis.admin.set(key, rowBytes(row), 'PX', random.pick([MINUTE_MS, 10 * HOUR_MS, 100 * DAY_MS]))
          const list = listOf(row.cells)
          await redis.admin.hset(keys.lists, hashOf(list).toString(16).padStart(8, '0'), list)
        }
      }
    }
  }

  async function play(number: number, seen: Seen): Promise<void> {
    const random = randomFrom(number)
    const each = anyScene(random)
    const [prefix, clock] = [newPrefix(), manualClock(HALF_PAST)]
    const keys = new Keys(prefix, each.schema)
    const model = new TakeModel(each.schema, clock)
    await seed(keys, model, each, random)
    const revision = each.follows === undefined || random.chance(0.8) ? (each.follows ?? '') : 'another1-of-22-letters'
    if (revision !== '') await redis.admin.set(keys.settings, revision)
    const store = openStore(redis.port, prefix, clock)
    try {
      await store.ready()
      const counters = store.open(each.schema)
      const conflicting: TakeRequest[] = []
      for (let round = 0; round < 2; round++) {
        const requests = Array.from({ length: random.int(1, 14) }, (_, n) => anyTake(each, `n${round}-${n}`, random))
        requests.push(...conflicting.splice(0))
        const before = new Map<string, number>()
        for (const key of model.rows.keys()) before.set(key, await redis.admin.pttl(key))
        const expected = requests.map((request) =>
          model.take(request, revision, (layer) => keys.row(layer, request.subject)),
        )
        const answers = await Promise.all(
          requests.map(
            (request): Promise<Verdict> =>
              counters.take(request).then(
                ({ outcome, states }) => ({ outcome, states }),
                (error: { code?: string }) => (error.code === 'damaged_row' ? 'damaged_row' : Promise.reject(error)),
              ),
          ),
        )
        expect(answers).toEqual(expected)
        for (const answer of expected) {
          const name = answer === 'damaged_row' ? answer : answer.outcome
          seen.add(name)
        }
        // Too rare by chance: what was admitted under an id, then requested under that id as something else.
        const admitted = requests.find(
          ({ id }, n) => id !== undefined && answers[n] !== 'damaged_row' && answers[n]?.outcome === 'admitted',
        )
        if (admitted?.id !== undefined)
          conflicting.push({ ...admitted, id: { ...admitted.id, nonce: 'other', fingerprint: 'other' } })
        await isWrittenAs(model, before)
        model.written.clear()
      }
    } finally {
      await store.close()
    }
  }

  /** Every byte of every row, and that no row goes before it may. */
  async function isWrittenAs(model: TakeModel, before: ReadonlyMap<string, number>): Promise<void> {
    for (const [key, row] of model.rows) {
      if (row.damaged === 'hash') expect(await redis.admin.type(key)).toBe('hash')
      else
        expect((await redis.admin.getBuffer(key))?.toString('hex'), key).toBe(
          (row.damaged ?? rowBytes(row)).toString('hex'),
        )
      if (!model.written.has(key)) continue
      const [kept, slackMs] = [await redis.admin.pttl(key), 30_000]
      expect(kept, key).toBeGreaterThan((before.get(key) ?? 0) - slackMs)
      if (before.get(key) === undefined) expect(kept).toBeGreaterThan(model.endOf(key) - HALF_PAST - slackMs)
    }
  }

  it('random takes are decided as by the testkit’s model, and every byte of their rows is as due', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const seen = new Seen()
    await fc.assert(
      fc.asyncProperty(fc.integer(), (number) => play(number, seen)),
      { numRuns: RUNS },
    )
    for (const outcome of ['admitted', 'refused', 'duplicate', 'conflict', 'stale', 'damaged_row']) {
      expect(seen.of(outcome), outcome).toBeGreaterThan(RUNS / 40)
    }
  })
})
