import { manualClock } from '@scoregw/quota-testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LEVELS } from '../src/charts/chart.ts'
import { mergeBest } from '../src/scores/import-best.ts'
import type { PlayRecord } from '../src/scores/score.ts'
import { MAX_ACHIEVEMENT } from '../src/scores/score.ts'
import { divingFish } from '../src/sources/diving-fish.ts'
import { Forwarder } from '../src/sources/forwarder.ts'
import { lxns } from '../src/sources/lxns.ts'
import { fields } from '../src/sources/records.ts'
import type { FetchedScores } from '../src/sources/score-source.ts'
import { START } from './support/gateway.ts'
import { type Answering, fishRecord, fishRecords, lxScore, lxScores, sourceServer } from './support/source-server.ts'

async function fetched(source: 'lx' | 'fish', answer: Answering): Promise<FetchedScores> {
  const { origin: baseUrl } = await sourceServer(answer)
  const forwarder = new Forwarder({ source, baseUrl, timeoutMs: 5_000, random: () => 0 })
  return (source === 'lx' ? lxns : divingFish)(forwarder, manualClock(START)).fetchScores({
    kind: 'personal',
    text: 'token',
  })
}

/** The same plays as each source writes them, and as they are kept. */
const PLAYS: readonly { readonly lx: object; readonly fish: object; readonly play: Partial<PlayRecord> }[] = [
  {
    lx: {},
    fish: {},
    play: { musicId: 834, level: 3, achievement: 1_005_700, dxScore: 3751, comboStatus: 2, syncStatus: 3 },
  },
  { lx: { type: 'dx' }, fish: { type: 'DX', song_id: 10_834 }, play: { musicId: 10_834, level: 3 } },
  { lx: { id: 1 }, fish: { song_id: 1 }, play: { musicId: 1 } },
  { lx: { id: 9_999, type: 'dx' }, fish: { song_id: 19_999, type: 'DX' }, play: { musicId: 19_999 } },
  {
    lx: { id: 100_834, type: 'utage', level_index: 0 },
    fish: { song_id: 100_834, level_index: 0 },
    play: { musicId: 100_834, level: 10 },
  },
  { lx: { level_index: 0 }, fish: { level_index: 0 }, play: { level: 0 } },
  { lx: { level_index: 4 }, fish: { level_index: 4 }, play: { level: 4 } },
  { lx: { achievements: 0 }, fish: { achievements: 0 }, play: { achievement: 0 } },
  { lx: { achievements: 101 }, fish: { achievements: 101 }, play: { achievement: 1_010_000 } },
  { lx: { achievements: 97.0003 }, fish: { achievements: 97.0003 }, play: { achievement: 970_003 } },
  { lx: { dx_score: 0 }, fish: { dxScore: 0 }, play: { dxScore: 0, dxScoreSource: 'unknown' } },
  { lx: { dx_score: 1 }, fish: { dxScore: 1 }, play: { dxScore: 1, dxScoreSource: 'exact' } },
  { lx: { fc: null, fs: null }, fish: { fc: '', fs: '' }, play: { comboStatus: 0, syncStatus: 0 } },
  { lx: { fc: 'fc', fs: 'fs' }, fish: { fc: 'fc', fs: 'fs' }, play: { comboStatus: 1, syncStatus: 1 } },
  { lx: { fc: 'fcp', fs: 'fsp' }, fish: { fc: 'fcp', fs: 'fsp' }, play: { comboStatus: 2, syncStatus: 2 } },
  { lx: { fc: 'ap', fs: 'fsd' }, fish: { fc: 'ap', fs: 'fsd' }, play: { comboStatus: 3, syncStatus: 3 } },
  { lx: { fc: 'app', fs: 'fsdp' }, fish: { fc: 'app', fs: 'fsdp' }, play: { comboStatus: 4, syncStatus: 4 } },
  { lx: { fs: 'sync' }, fish: { fs: 'sync' }, play: { syncStatus: 5 } },
]

describe('source records', () => {
  it('records of one play from both sources are equal', async () => {
    const fromLx = await fetched('lx', lxScores(...PLAYS.map(({ lx }) => lxScore({ play_time: null, ...lx }))))
    const fromFish = await fetched('fish', fishRecords(...PLAYS.map(({ fish }) => fishRecord(fish))))
    expect(fromLx.faults).toEqual([])
    expect(fromFish).toMatchObject({ faults: [], plays: fromLx.plays, fetched: PLAYS.length })
    expect(fromLx.plays).toMatchObject(PLAYS.map(({ play }) => play))
  })

  it('records keep the time of a play if it is known', async () => {
    const times = [
      '2026-05-01T12:30:00Z',
      '2026-05-01T20:30:00+08:00',
      '2026-05-01T12:30:00',
      'yesterday',
      '9026-05-01T12:30:00Z',
      7,
      // Left out of the JSON.
      undefined,
    ]
    const answer = lxScores(...times.map((play_time) => lxScore({ play_time })))
    const { plays, faults } = await fetched('lx', answer)
    expect(faults).toEqual([])
    const instant = Date.UTC(2026, 4, 1, 12, 30)
    expect(plays.map(({ playedAt }) => playedAt)).toEqual([instant, instant, null, null, null, null, null])
  })

  it('invalid LXNS records are skipped and the others imported', async () => {
    const bad = [
      null,
      'text',
      lxScore({ id: '834' }),
      lxScore({ id: 10_000 }),
      lxScore({ id: 99_999, type: 'utage' }),
      lxScore({ type: 'new' }),
      lxScore({ level_index: 5 }),
      lxScore({ achievements: 101.0001 }),
      lxScore({ achievements: null }),
      lxScore({ dx_score: -1 }),
      lxScore({ dx_score: 1.5 }),
      lxScore({ fc: 'full combo' }),
      lxScore({ fs: {} }),
    ]
    const { fetched: count, plays, faults } = await fetched('lx', lxScores(lxScore(), ...bad, lxScore({ type: 'dx' })))
    expect({ count, kept: plays.map(({ musicId }) => musicId) }).toEqual({ count: 15, kept: [834, 10_834] })
    expect(faults.map(({ path }) => path)).toEqual(
      [
        '',
        '',
        '.id',
        '.id',
        '.id',
        '.type',
        '.level_index',
        '.achievements',
        '.achievements',
        '.dx_score',
        '.dx_score',
        '.fc',
        '.fs',
      ].map((field, index) => `data.${index + 1}${field}`),
    )
  })

  it('invalid Diving-Fish records are skipped without repeating their text', async () => {
    const bad = [
      fishRecord({ song_id: 0 }),
      fishRecord({ song_id: 1_000_000 }),
      fishRecord({ level_index: 'SECRET' }),
      fishRecord({ achievements: 'SECRET' }),
      fishRecord({ fc: 'SECRET' }),
    ]
    const { plays, faults } = await fetched('fish', fishRecords(...bad, fishRecord()))
    expect(plays).toHaveLength(1)
    expect(faults).toHaveLength(bad.length)
    expect(faults[0]).toEqual({ path: 'records.0.song_id', msg: 'expected a whole number from 1 to 999999' })
    expect(JSON.stringify(faults)).not.toContain('SECRET')
  })

  it('achievements are rounded, also those that truncation gets wrong', () => {
    let truncatedWrong = 0
    const wrong: number[] = []
    for (let value = 0; value <= MAX_ACHIEVEMENT; value++) {
      const percent = value / 10_000
      if (Math.trunc(percent * 10_000) === value && value % 101 !== 0) continue
      if (Math.trunc(percent * 10_000) !== value) truncatedWrong++
      if (fields.achievement.safeParse(percent).data !== value) wrong.push(value)
    }
    expect(wrong).toEqual([])
    expect(truncatedWrong).toBe(69_762)
  })
})

const SYNC_FROM_WEAKEST = [0, 5, 1, 2, 3, 4]
const strength = ({ syncStatus }: PlayRecord): number => SYNC_FROM_WEAKEST.indexOf(syncStatus)

const dxScores = fc.oneof(
  fc.record({
    dxScore: fc.integer({ min: 0, max: 3 }),
    dxScoreSource: fc.constantFrom('exact' as const, 'fuzzy' as const),
  }),
  fc.constant({ dxScore: 0, dxScoreSource: 'unknown' as const }),
)
/** Few values a field, so that equal ones meet. */
const records: fc.Arbitrary<PlayRecord> = fc
  .record({
    achievement: fc.integer({ min: 0, max: 3 }),
    comboStatus: fc.integer({ min: 0, max: 4 }),
    syncStatus: fc.integer({ min: 0, max: 5 }),
    playCount: fc.option(fc.integer({ min: 0, max: 2 })),
    playedAt: fc.option(fc.integer({ min: 0, max: 2 })),
    dx: dxScores,
  })
  .map(({ dx, ...rest }) => ({ musicId: 101, level: LEVELS[3], ...rest, ...dx }))

describe('merging plays', () => {
  it('merging gives one result in any order, grouping or repetition', () => {
    fc.assert(
      fc.property(records, records, records, (a, b, c) => {
        expect(mergeBest(a, a)).toEqual(a)
        expect(mergeBest(a, b)).toEqual(mergeBest(b, a))
        expect(mergeBest(mergeBest(a, b), c)).toEqual(mergeBest(a, mergeBest(b, c)))
        expect(mergeBest(mergeBest(a, b), b)).toEqual(mergeBest(a, b))
      }),
      { numRuns: 300 },
    )
  })

  it('merging never lowers a field, except a computed DX score when an exact one is known', () => {
    fc.assert(
      fc.property(records, records, (before, incoming) => {
        const after = mergeBest(before, incoming)
        expect(after.achievement).toBe(Math.max(before.achievement, incoming.achievement))
        expect(after.comboStatus).toBe(Math.max(before.comboStatus, incoming.comboStatus))
        expect(strength(after)).toBe(Math.max(strength(before), strength(incoming)))
        expect(after.playCount ?? -1).toBe(Math.max(before.playCount ?? -1, incoming.playCount ?? -1))
        expect(after.playedAt ?? -1).toBe(Math.max(before.playedAt ?? -1, incoming.playedAt ?? -1))
        const isReadOff = before.dxScoreSource === 'fuzzy' && after.dxScoreSource === 'exact' && after.dxScore > 0
        if (!isReadOff) expect(after.dxScore).toBeGreaterThanOrEqual(before.dxScore)
        if (before.dxScore > 0) expect(after.dxScore).toBeGreaterThan(0)
        if (before.dxScoreSource === 'exact' && before.dxScore > 0) expect(after.dxScoreSource).toBe('exact')
      }),
      { numRuns: 300 },
    )
  })

  const record = (facts: Partial<PlayRecord>): PlayRecord => ({
    musicId: 101,
    level: 3,
    achievement: 0,
    dxScore: 0,
    dxScoreSource: 'unknown',
    comboStatus: 0,
    syncStatus: 0,
    playCount: null,
    playedAt: null,
    ...facts,
  })
  const exact = (dxScore: number): PlayRecord => record({ dxScore, dxScoreSource: 'exact' })
  const fuzzy = (dxScore: number): PlayRecord => record({ dxScore, dxScoreSource: 'fuzzy' })

  it.each([
    ['an exact one before a fuzzy one', exact(1_000), fuzzy(1_400), exact(1_000)],
    ['the higher of two exact ones', exact(1_000), exact(1_001), exact(1_001)],
    ['the higher of two fuzzy ones', fuzzy(1_000), fuzzy(1_400), fuzzy(1_400)],
    ['a fuzzy one before 0', fuzzy(1_000), record({}), fuzzy(1_000)],
    ['a fuzzy one before an exact 0', fuzzy(1_000), exact(0), fuzzy(1_000)],
    ['an exact 0 before an unknown one', exact(0), record({}), exact(0)],
  ])('merging keeps of two DX scores %s', (_name, a, b, best) => {
    expect(mergeBest(a, b)).toEqual(best)
    expect(mergeBest(b, a)).toEqual(best)
  })
})
