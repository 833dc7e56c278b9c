import * as z from 'zod'
import { type Chart, chartTypeOf } from '../charts/chart.ts'
import { scoreRank } from '../scores/achievement.ts'
import { chartRating } from '../scores/chart-rating.ts'
import type { StoredScore } from '../scores/score.ts'
import { comboName, syncName } from '../scores/statuses.ts'

/** A stored score in the form in which records come, with the chart's facts as Diving-Fish has them. */
export const playerRecord = z.object({
  song_id: z.int(),
  level_index: z.int(),
  achievements: z.number(),
  dxScore: z.int(),
  fc: z.string(),
  fs: z.string(),
  title: z.string().nullable().describe('`null`: the chart is not known.'),
  type: z.enum(['SD', 'DX']).nullable().describe('`null` for utage.'),
  level: z.string().nullable().describe('As players write it, such as `13+`; `null`: not known.'),
  level_label: z.string(),
  ds: z.number().nullable().describe('The exact difficulty; `null`: not known.'),
  ra: z.int().nullable().describe('What it adds to a rating; `null` without `ds`, and for utage.'),
  rate: z.string().describe('Its rank, `d` to `sssp`.'),
})

const TYPES = { standard: 'SD', dx: 'DX', utage: null } as const
const LABELS = { 0: 'Basic', 1: 'Advanced', 2: 'Expert', 3: 'Master', 4: 'Re:MASTER', 10: 'Utage' } as const
const RATES = ['d', 'c', 'b', 'bb', 'bbb', 'a', 'aa', 'aaa', 's', 'sp', 'ss', 'ssp', 'sss', 'sssp'] as const

export function toPlayerRecord(score: StoredScore, chart: Chart | undefined): z.output<typeof playerRecord> {
  const { musicId, level, achievement, dxScore, comboStatus, syncStatus } = score
  const type = chart?.type ?? chartTypeOf(musicId)
  const ds = chart?.constant ?? null
  return {
    song_id: musicId,
    level_index: level === 10 ? 0 : level,
    achievements: achievement / 10_000,
    dxScore,
    fc: named(comboName(comboStatus)),
    fs: named(syncName(syncStatus)),
    title: chart?.title ?? null,
    type: TYPES[type],
    level: chart?.difficulty ?? null,
    level_label: LABELS[level],
    ds,
    ra: ds === null || type === 'utage' ? null : chartRating(ds, achievement),
    rate: RATES[scoreRank(achievement)] ?? 'd',
  }
}

function named(text: string): string {
  return text === 'none' ? '' : text
}
