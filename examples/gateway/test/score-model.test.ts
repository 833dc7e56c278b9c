import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dxScoreMax, dxStar, leastDxScore } from '../src/charts/chart.ts'
import { comboStatusSchema, syncStatusSchema } from '../src/scores/bodies.ts'
import { MAX_ACHIEVEMENT, parseAchievement, scoreRank } from '../src/scores/score.ts'

describe('achievements', () => {
  it('an achievement has one value as percentage, integer and text, over the whole range', () => {
    const wrong: number[] = []
    for (let value = 0; value <= MAX_ACHIEVEMENT; value++) {
      const percent = `${Math.floor(value / 10_000)}.${String(value % 10_000).padStart(4, '0')}`
      const isRight =
        parseAchievement(Number(percent)) === value &&
        parseAchievement(percent) === value &&
        (value <= 10_000 || (parseAchievement(value) === value && parseAchievement(String(value)) === value))
      if (!isRight) wrong.push(value)
    }
    expect(wrong).toEqual([])
  })

  it.each([
    -1,
    -0.5,
    101.5,
    102,
    5_000,
    10_000,
    10_000.5,
    1_010_001,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    true,
    '',
    'x',
    '1e2',
    '-1',
    '100,5',
    ' 1',
    '0x10',
    '101.5',
    '10000',
  ])('%o isn’t an achievement', (value) => {
    expect(parseAchievement(value)).toBeUndefined()
  })

  it.each([
    [0, 0],
    [499_999, 0],
    [500_000, 1],
    [600_000, 2],
    [700_000, 3],
    [750_000, 4],
    [800_000, 5],
    [900_000, 6],
    [940_000, 7],
    [969_999, 7],
    [970_000, 8],
    [980_000, 9],
    [990_000, 10],
    [994_999, 10],
    [995_000, 11],
    [999_999, 11],
    [1_000_000, 12],
    [1_004_999, 12],
    [1_005_000, 13],
    [1_010_000, 13],
  ])('an achievement of %i has rank %i', (achievement, rank) => {
    expect(scoreRank(achievement)).toBe(rank)
  })
})

describe('DX scores', () => {
  it.each([
    [0, 0],
    [2549, 0],
    [2550, 1],
    [2700, 2],
    [2790, 3],
    [2850, 4],
    [2909, 4],
    [2910, 5],
    [3000, 5],
  ])('a DX score of %i out of 3000 has %i stars', (dxScore, stars) => {
    expect(dxStar(dxScore, 3000)).toBe(stars)
  })

  it('a star count stands for the lowest DX score with so many stars', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 0, max: 5 }), (notes, stars) => {
        const max = dxScoreMax(notes)!
        const least = leastDxScore(stars, max)
        expect(Number.isInteger(least)).toBe(true)
        expect(dxStar(least, max)).toBeGreaterThanOrEqual(stars)
        if (least > 0) expect(dxStar(least - 1, max)).toBeLessThan(stars)
      }),
    )
  })

  it('a DX score without known notes has no maximum and no stars', () => {
    expect(dxScoreMax(null)).toBeNull()
    expect(dxStar(1000, null)).toBeNull()
  })
})

describe('statuses', () => {
  it('a status is read from its name, number and aliases', () => {
    expect(['none', 'fc', 'fcp', 'ap', 'app', 0, 4].map((value) => comboStatusSchema.parse(value))).toEqual([
      0, 1, 2, 3, 4, 0, 4,
    ])
    const sync = ['none', 'fs', 'fsp', 'fsd', 'fsdp', 'sync', 'fdx', 'fdxp', 5]
    expect(sync.map((value) => syncStatusSchema.parse(value))).toEqual([0, 1, 2, 3, 4, 5, 3, 4, 5])
  })

  it.each([5, -1, 1.5, '1', 'FC', '', null, {}])('a combo status isn’t %o', (value) => {
    expect(comboStatusSchema.safeParse(value).success).toBe(false)
  })
})
