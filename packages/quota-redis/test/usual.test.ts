import { MAX_USED } from '@scoregw/quota/store'
import * as fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newPrefix } from './store-harness.ts'
import { type RedisServer, redisTests, startRedis } from './support/redis-server.ts'
import {
  HOUR_MS,
  MINUTE_MS,
  NOW,
  type PlainTakes,
  type Played,
  Player,
  type RowSeed,
  SHAPES,
  type ShapeName,
} from './support/usual-batches.ts'

const RUNS = process.env.QUOTA_TEST_DEEP === '1' ? 30_000 : 150
const TIMEOUT_MS = 60_000 + 40 * RUNS

const [SITE, ORG, PERSONAL, ALL] = [0, 1, 2, 3]
const REVISION = 'revision-of-22-letters'
/** As long, and not as revisions are: told in another way than it is stored. */
const ODD_REVISION = 'revision % 22 letters!'
const UNLIMITED = Number.POSITIVE_INFINITY

interface Scene {
  readonly shape: ShapeName
  readonly seeds: readonly RowSeed[]
  readonly takes: PlainTakes
  readonly revision?: string | undefined
  /** What is stored as the policy's list of limits; `undefined`: nothing. By default the list. */
  readonly list?: string | undefined
  /** What is stored under an id. */
  readonly record?: { readonly subject: string; readonly id: string; readonly isHash: boolean } | undefined
  /** Batches that were played before. */
  readonly before?: readonly PlainTakes[] | undefined
}

/** Subjects whose keys are the same in each layer. */
const SAME = ['a', 'b', 'a'].map((key) => ({ org: key, personal: key }))

/** Three takes of two subjects of one organisation, all whose rows are there with all windows open. */
function scene(shape: ShapeName, layers: readonly number[], change: Partial<PlainTakes> = {}): Scene {
  const cells = SHAPES[shape].length
  const subjects = ['a', 'b', 'a'].map((personal) => ({ org: 'o', personal }))
  const limits = layers.flatMap(() => new Array<number>(cells).fill(100))
  const keys = new Map(layers.map((layer) => [layer, layer === PERSONAL ? ['a', 'b'] : [layer === ORG ? 'o' : '']]))
  const used = new Array<number>(cells).fill(7)
  const seeds = layers.flatMap((layer) => keys.get(layer)!.map((subject) => ({ layer, subject, used })))
  return { shape, seeds, takes: { layers, limits, cost: 2, subjects, ...change } }
}

/** The same with another row of one layer. */
function withRow({ seeds, ...rest }: Scene, layer: number, change: Partial<RowSeed> | undefined): Scene {
  const at = seeds.findIndex((seed) => seed.layer === layer)
  const changed = change === undefined ? [] : [{ ...seeds[at]!, ...change }]
  return { ...rest, seeds: [...seeds.slice(0, at), ...changed, ...seeds.slice(at + 1)] }
}

/** What is not usual about a row, by the reason. */
const ODD_ROWS: Readonly<Record<string, Partial<RowSeed> | undefined>> = {
  'has another length': { damage: (bytes) => bytes.subarray(0, -1) },
  'has another version': { damage: (bytes) => Buffer.from([3, ...bytes.subarray(1)]) },
  'is of another list': { damage: (bytes) => Buffer.from([2, 1, 2, 3, 4, ...bytes.subarray(5)]) },
  'has a window that has ended': { startsInMs: [-5 * MINUTE_MS] },
  'has another window that has ended': { startsInMs: [-1, -2 * HOUR_MS] },
  'has a window that a reset closed': { used: [7, -1] },
  'has a window of a clock far ahead': { startsInMs: [5_001] },
  'has another window of a clock far ahead': { startsInMs: [0, 5_001] },
  'has a window below what can be': { used: [-2, 7, 7] },
  'has a window above what can be': { used: [7, MAX_USED + 1, 7] },
}

describe.runIf(redisTests)('the usual batch', () => {
  let server: RedisServer
  let redis: Redis
  beforeAll(async () => {
    server = await startRedis()
    redis = new Redis({ port: server.port })
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })

  /** Plays a scene by both scripts, and sees that they answer and leave the same. */
  async function both({ shape, seeds, takes, revision, ...rest }: Scene): Promise<Played> {
    const [usual, general] = await Promise.all(
      (['usual', 'general'] as const).map(async (which) => {
        const player = new Player(redis, newPrefix(), shape, which)
        await player.seed(seeds, revision)
        await player.seedList('list' in rest ? rest.list : player.list)
        const { record, before = [] } = rest
        if (record !== undefined) await player.seedRecord(record.subject, record.id, record.isHash)
        for (const each of before) await player.play(each)
        return player.play(takes)
      }),
    )
    expect(usual!.answers).toEqual(general!.answers)
    expect(usual!.stored).toEqual(general!.stored)
    // What is written anew expires a while after the instant of each call.
    for (const [n, expiresAt] of usual!.expiries.entries()) {
      expect(Math.abs(expiresAt - general!.expiries[n]!)).toBeLessThan(10_000)
    }
    expect(general!.isUsual).toBe(false)
    return usual!
  }

  const shapes = Object.keys(SHAPES) as ShapeName[]
  const layers = [[PERSONAL], [SITE], [SITE, ALL], [PERSONAL, SITE], [SITE, PERSONAL, ALL], [ORG, PERSONAL]]
  const more = [
    [PERSONAL, ORG, SITE],
    [SITE, ORG, ALL, PERSONAL],
  ]

  it.each(shapes)('is one of any layers: %s', async (shape) => {
    for (const each of [...layers, ...more]) {
      const { isUsual, answers } = await both(scene(shape, each))
      expect(isUsual, `${each}`).toBe(true)
      for (const answer of answers) expect(answer).toMatchObject({ outcome: 'admitted' })
    }
  })

  it.each(shapes)('is one in which some are refused: %s', async (shape) => {
    for (const each of [...layers, ...more]) {
      const { limits } = scene(shape, each).takes
      for (const exhausted of limits.keys()) {
        const tight = limits.map((limit, index) => (index === exhausted ? 10 : limit))
        const { isUsual, answers } = await both(scene(shape, each, { limits: tight }))
        expect(isUsual, `${each}: ${exhausted}`).toBe(true)
        const isSlot = SHAPES[shape][exhausted % SHAPES[shape].length]!.kind === 'concurrency'
        const outcomes = answers.map((answer) => (answer as { outcome: string }).outcome)
        expect(outcomes.includes('refused'), `${each}: ${exhausted}`).toBe(!isSlot)
      }
    }
  })

  it('is one at the very edges of what is usual', async () => {
    const edges: Partial<RowSeed>[] = [
      { startsInMs: [-5 * MINUTE_MS + 1, -2 * HOUR_MS + 1, -24 * HOUR_MS + 1] },
      { startsInMs: [5_000, 5_000, 5_000] },
      { used: [0, 0, 0] },
      { used: [98, 98, 98] },
    ]
    for (const layer of [SITE, ORG, PERSONAL]) {
      for (const edge of edges) {
        const { isUsual } = await both(withRow(scene('rolling', [SITE, ORG, PERSONAL]), layer, edge))
        expect(isUsual, JSON.stringify(edge)).toBe(true)
      }
    }
    const began = withRow(scene('calendar', [PERSONAL, SITE]), SITE, { startsInMs: [0, -30 * MINUTE_MS, 0] })
    expect((await both(began)).isUsual).toBe(true)
    const before = withRow(scene('calendar', [PERSONAL, SITE]), SITE, { startsInMs: [0, -30 * MINUTE_MS - 1, 0] })
    expect((await both(before)).isUsual).toBe(false)
  })

  it('is one without limits, as long as every token is counted', async () => {
    const limits = new Array<number>(9).fill(UNLIMITED)
    const change = { limits, cost: 2 }
    for (const layer of [SITE, ORG, PERSONAL]) {
      const open = scene('rolling', [SITE, ORG, PERSONAL], change)
      expect((await both(open)).isUsual).toBe(true)
      const { isUsual } = await both(withRow(open, layer, { used: [7, MAX_USED - 2, 7] }))
      expect(isUsual, `${layer}`).toBe(false)
    }
  })

  it.each(shapes)('is one in which rows of the subjects are not there: %s', async (shape) => {
    for (const each of [[PERSONAL], [SITE, PERSONAL, ALL], [ORG, PERSONAL], [SITE, ORG, ALL, PERSONAL]]) {
      for (const missing of each.filter((layer) => layer === ORG || layer === PERSONAL)) {
        const { isUsual, answers } = await both(withRow(scene(shape, each), missing, undefined))
        expect(isUsual, `${each}: ${missing}`).toBe(true)
        for (const answer of answers) expect(answer).toMatchObject({ outcome: 'admitted' })
      }
    }
  })

  it.each(shapes)('is one in which subjects are refused that were not there: %s', async (shape) => {
    const cells = SHAPES[shape].length
    for (const each of [[PERSONAL], [SITE, PERSONAL]]) {
      for (let tight = 0; tight < each.length; tight++) {
        // Two tokens fit into the site once more, and into a subject's row never.
        const most = each[tight] === SITE ? 9 : 1
        const limits = each.flatMap((_, l) => new Array<number>(cells).fill(l === tight ? most : 100))
        const unseen = withRow(scene(shape, each, { limits }), PERSONAL, undefined)
        const { isUsual, answers } = await both({
          ...unseen,
          seeds: unseen.seeds.filter(({ subject }) => subject !== 'b'),
        })
        expect(isUsual, `${each}: ${tight}`).toBe(true)
        expect(answers).toContainEqual(expect.objectContaining({ outcome: 'refused' }))
      }
    }
  })

  it('is not one of a row that everybody shares and nobody has opened', async () => {
    const { isUsual } = await both(withRow(scene('rolling', [SITE, ORG, PERSONAL]), SITE, undefined))
    expect(isUsual).toBe(false)
  })

  it('is not one where a row may be refused and opened later', async () => {
    const limits = [...new Array<number>(3).fill(8), ...new Array<number>(3).fill(100)]
    const tight = scene('rolling', [ORG, PERSONAL], { limits })
    const { isUsual } = await both(withRow(tight, PERSONAL, undefined))
    expect(isUsual).toBe(false)
  })

  it.each([ORG, PERSONAL])('is not one where what is stored in place of a row of layer %i is no row', async (layer) => {
    const other = withRow(scene('rolling', [SITE, ORG, PERSONAL]), layer, { isHash: true })
    const { isUsual, answers } = await both(other)
    expect(isUsual).toBe(false)
    expect(answers).toContain('damaged_row')
  })

  it('is not one that is the first to name a list', async () => {
    const { isUsual } = await both({ ...withRow(scene('rolling', [PERSONAL]), PERSONAL, undefined), list: undefined })
    expect(isUsual).toBe(false)
  })

  it('is refused where another list has the hash of its own', async () => {
    const player = new Player(redis, newPrefix(), 'rolling', 'usual')
    await player.seedList('another list')
    await expect(player.play(scene('rolling', [PERSONAL]).takes)).rejects.toThrow('QUOTALIST')
  })

  describe.each([SITE, ORG, PERSONAL])('is not one where a row of layer %i', (layer) => {
    it.each(Object.entries(ODD_ROWS))('%s', async (_, change) => {
      const { isUsual } = await both(withRow(scene('rolling', [SITE, ORG, PERSONAL]), layer, change))
      expect(isUsual).toBe(false)
    })

    it('has slots that cannot be', async () => {
      for (const slots of [-2, MAX_USED + 1]) {
        const odd = withRow(scene('slots', [SITE, ORG, PERSONAL]), layer, { used: [7, 7, slots] })
        expect((await both(odd)).isUsual).toBe(false)
      }
      const never = withRow(scene('slots', [SITE, ORG, PERSONAL]), layer, {
        used: [7, 7, -1],
        startsInMs: [0, 0, 60_000],
      })
      expect((await both(never)).isUsual).toBe(true)
    })

    it('is of a period that has ended', async () => {
      const odd = withRow(scene('calendar', [SITE, ORG, PERSONAL]), layer, { startsInMs: [-1, -HOUR_MS, -1] })
      expect((await both(odd)).isUsual).toBe(false)
    })
  })

  it('is not one of another revision, and is one of the same', async () => {
    const following = { ...scene('rolling', [PERSONAL, SITE], { follows: REVISION }), revision: REVISION }
    expect((await both(following)).isUsual).toBe(true)
    const stale = await both({ ...following, revision: REVISION.replace('22', '23') })
    expect(stale).toMatchObject({
      isUsual: false,
      answers: [{ outcome: 'stale' }, { outcome: 'stale' }, { outcome: 'stale' }],
    })
    const odd = { ...scene('rolling', [PERSONAL, SITE], { follows: ODD_REVISION }), revision: ODD_REVISION }
    expect((await both(odd)).isUsual).toBe(false)
  })

  it('knows two periods of the calendar, and no third', async () => {
    const told = (behind: readonly number[]): Scene => scene('calendar', [PERSONAL, SITE], { behind })
    for (const behind of [
      [0, 0],
      [1, 1],
      [1, 0],
    ])
      expect((await both(told(behind))).isUsual, `${behind}`).toBe(true)
    for (const behind of [
      [2, 2],
      [0, 2],
      [2, 0],
      [-1, -1],
      [0, -1],
    ]) {
      const { isUsual, answers } = await both(told(behind))
      expect(isUsual, `${behind}`).toBe(false)
      for (const answer of answers) expect(answer).toMatchObject({ outcome: 'stale' })
    }
  })

  it('is not one of a period that is about to begin', async () => {
    const periods = [NOW + 1_000, NOW + HOUR_MS, NOW + 2 * HOUR_MS]
    const early = withRow(scene('calendarAlone', [PERSONAL], { periods }), PERSONAL, { startsInMs: [2_000] })
    const { isUsual, answers } = await both({
      ...early,
      takes: { ...early.takes, subjects: [{ org: 'o', personal: 'a' }] },
    })
    expect(isUsual).toBe(false)
    expect(answers).toMatchObject([{ outcome: 'stale' }])
  })

  describe('under ids', () => {
    const ids = ['id-1', 'id-2', 'id-3']

    it.each(shapes)('is one of any layers: %s', async (shape) => {
      for (const each of [...layers, ...more]) {
        const { isUsual, answers, stored } = await both(scene(shape, each, { ids }))
        expect(isUsual, `${each}`).toBe(true)
        for (const answer of answers) expect(answer).toMatchObject({ outcome: 'admitted' })
        expect(Object.keys(stored).filter((name) => name.startsWith('#'))).toHaveLength(3)
      }
    })

    it('is one in which subjects were not there, and one in which some are refused', async () => {
      for (const limits of [undefined, [100, 100, 100, 9, 100, 100], [100, 3, 100, 100, 100, 100]]) {
        const change = { ids, ...(limits && { limits }) }
        const { isUsual, stored } = await both(withRow(scene('rolling', [PERSONAL, SITE], change), PERSONAL, undefined))
        expect(isUsual).toBe(true)
        const records = Object.keys(stored).filter((name) => name.startsWith('#'))
        expect(records).toHaveLength([3, 1][limits === undefined ? 0 : 1]!)
      }
    })

    it('is one of slots that nobody has', async () => {
      const free = { used: [7, 7, -1], startsInMs: [0, 0, 60_000] }
      expect((await both(withRow(scene('slots', [PERSONAL, SITE], { ids }), PERSONAL, free))).isUsual).toBe(true)
    })

    it('is not one where an id was used, by whomever', async () => {
      const { answers } = await both(scene('rolling', [PERSONAL, SITE], { ids: ['id-1', 'id-2', 'id-1'] }))
      expect(answers).toMatchObject([{ outcome: 'admitted' }, { outcome: 'admitted' }, { outcome: 'duplicate' }])
      const first = scene('rolling', [PERSONAL, SITE], { ids, subjects: [{ org: 'o', personal: 'a' }] })
      for (const [holder, outcome] of [
        ['', 'admitted'],
        ['other-', 'duplicate'],
      ]) {
        const again = await both({ ...scene('rolling', [PERSONAL, SITE], { ids, holder }), before: [first.takes] })
        expect(again).toMatchObject({ isUsual: false, answers: [{ outcome }, {}, {}] })
      }
    })

    it.each([true, false])('is not one where what is stored under an id is no record, %s', async (isHash) => {
      const other = { ...scene('rolling', [PERSONAL, SITE], { ids }), record: { subject: 'b', id: 'id-2', isHash } }
      const { isUsual, answers } = await both({ ...other, takes: { ...other.takes, subjects: SAME } })
      expect(isUsual).toBe(false)
      expect(answers).toMatchObject([{ outcome: 'admitted' }, 'damaged_row', { outcome: 'admitted' }])
    })

    it('is not one that is the first to name a list', async () => {
      const { isUsual } = await both({ ...scene('rolling', [PERSONAL], { ids }), list: undefined })
      expect(isUsual).toBe(false)
    })

    it('is none that can be told as such where nonces are of several lengths', async () => {
      const mixed = scene('rolling', [PERSONAL, SITE], {
        ids: Array.from({ length: 11 }, (_, index) => `id-${index}`),
        subjects: new Array(11).fill({ org: 'o', personal: 'a' }),
      })
      expect((await both(mixed)).isUsual).toBe(false)
      expect((await both(scene('rolling', [PERSONAL], { ids, holder: 'ä' }))).isUsual).toBe(false)
    })
  })

  const seeded = (shape: ShapeName): fc.Arbitrary<RowSeed> => {
    const cells = SHAPES[shape].length
    const starts = [-MINUTE_MS, -MINUTE_MS, -MINUTE_MS, -MINUTE_MS, -MINUTE_MS, 0, 5_000, -HOUR_MS, 5_001]
    return fc.record({
      layer: fc.constantFrom(SITE, ORG, PERSONAL, ALL),
      subject: fc.constantFrom('a', 'b', 'c'),
      used: fc.array(fc.constantFrom(0, 0, 3, 5, 9, 11, 0, 3, 5, 9, 11, -1, MAX_USED), {
        minLength: cells,
        maxLength: cells,
      }),
      startsInMs: fc.array(fc.constantFrom(...starts), { minLength: cells, maxLength: cells }),
    })
  }

  const anyScene = fc.constantFrom(...shapes).chain((shape): fc.Arbitrary<Scene> => {
    const all = ['a', 'b', 'c'].flatMap((subject) =>
      [ORG, PERSONAL].map((layer): RowSeed => ({ layer, subject, used: [1, 2, 3] })),
    )
    const everybodys = [SITE, ALL].map((layer): RowSeed => ({ layer, subject: '', used: [4, 5, 6] }))
    const gone = fc.subarray(all)
    return fc.record({
      shape: fc.constant(shape),
      seeds: fc
        .tuple(gone, fc.oneof(fc.constant([]), fc.array(seeded(shape), { maxLength: 3 })))
        .map(([without, odd]) => [...everybodys, ...all.filter((row) => !without.includes(row)), ...odd]),
      takes: fc.constantFrom(...layers, ...more).chain((each) =>
        fc.record({
          layers: fc.constant(each),
          limits: fc.array(fc.constantFrom(12, 14, 20, 30, 100, UNLIMITED, 0), {
            minLength: each.length * SHAPES[shape].length,
            maxLength: each.length * SHAPES[shape].length,
          }),
          cost: fc.constantFrom(1, 2, 3),
          subjects: fc.array(
            fc.record({ org: fc.constantFrom('a', 'b', 'c'), personal: fc.constantFrom('a', 'b', 'c') }),
            { minLength: 1, maxLength: 8 },
          ),
          ids: fc.option(
            fc
              .array(fc.nat({ max: 9 }), { minLength: 8, maxLength: 8 })
              .map((some) => some.map((n, i) => (n < 1 ? 'i' : `i${i}`))),
            { nil: undefined },
          ),
          behind: fc.constantFrom(undefined, undefined, undefined, [1, 0, 0, 1], [0, 2, 0, 0]),
        }),
      ),
    })
  })

  it('is answered and written as any other, in random scenes', { timeout: TIMEOUT_MS }, async () => {
    const counts = { usual: 0, unusual: 0, refused: 0, opened: 0, underIds: 0 }
    await fc.assert(
      fc.asyncProperty(anyScene, async (each) => {
        const { isUsual, answers, stored } = await both(each)
        counts[isUsual ? 'usual' : 'unusual']++
        // Beside them is the policy's list.
        const kept = Object.keys(stored).filter((name) => name.startsWith('#')).length
        if (isUsual && kept > 0) counts.underIds++
        const rows = new Set(each.seeds.map(({ layer, subject }) => `${layer} ${subject}`)).size
        if (isUsual && Object.keys(stored).length - kept > rows + 1) counts.opened++
        if (isUsual && answers.some((answer) => (answer as { outcome: string }).outcome === 'refused')) counts.refused++
      }),
      { numRuns: RUNS },
    )
    for (const count of Object.values(counts)) expect(count, JSON.stringify(counts)).toBeGreaterThan(RUNS / 75)
  })

  it('is told as such only where it can be', async () => {
    for (const shape of shapes) expect((await both(scene(shape, []))).isUsual).toBe(false)
    const free = await both(scene('rolling', [PERSONAL, SITE], { cost: 0 }))
    expect(free.isUsual).toBe(false)
    const limits = new Array<number>(6).fill(MAX_USED)
    expect((await both(scene('rolling', [PERSONAL, SITE], { limits }))).isUsual).toBe(false)
  })
})
