import * as z from 'zod'
import { type Chart, chartTypeOf } from '../charts/chart.ts'
import { isoInstant, queryNumber } from '../http/schemas.ts'
import { comboName, syncName } from '../scores/bodies.ts'
import { chartRating, type StoredScore, scoreRank } from '../scores/score.ts'
import { qqText } from './bodies.ts'
import { MOST_DAYS } from './rating-days.ts'

/** A stored score in the form of records, with the chart's facts in Diving-Fish's form. */
const playerRecord = z.object({
  song_id: z.int(),
  level_index: z.int(),
  achievements: z.number(),
  dxScore: z.int(),
  fc: z.string(),
  fs: z.string(),
  title: z.string().nullable().describe('`null`: the chart is unknown.'),
  type: z.enum(['SD', 'DX']).nullable().describe('`null` for utage.'),
  level: z.string().nullable().describe('As players write it, such as `13+`; `null`: unknown.'),
  level_label: z.string(),
  ds: z.number().nullable().describe('The exact difficulty; `null`: unknown.'),
  ra: z.int().nullable().describe('Its part of a rating; `null` without `ds`, and for utage.'),
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

export const playerParams = z.object({ qq: qqText })

const ratings = {
  rating: z.int().nullable().describe('The total.'),
  old_rating: z.int().nullable().describe('The part of the best 35 of older versions.'),
  new_rating: z.int().nullable().describe('The part of the best 15 of the newest version.'),
}

export const playerAnswer = z.object({
  qq: z.int(),
  linked: z.boolean(),
  username: z.string().nullable().describe('Name of the linked account; `null`: none.'),
  nickname: z.string().nullable(),
  source: z.string().nullable(),
  ...ratings,
  play_count: z.int().nullable(),
  stored_records: z.int(),
  record_count: z.int().describe('The same as `stored_records`.'),
  open_snapshot_id: z.string().nullable(),
  synced_at: isoInstant.nullable(),
  records: z.array(playerRecord),
})
export type PlayerAnswer = z.output<typeof playerAnswer>

export const summaryAnswer = z.object({
  qq: z.int(),
  nickname: z.string().nullable(),
  ...ratings,
  record_count: z.int(),
  last_sync_at: isoInstant.nullable(),
})
export type SummaryAnswer = z.output<typeof summaryAnswer>

export const trendQuery = z.object({
  days: queryNumber(1, MOST_DAYS, 30).describe('How many days in Beijing, including today.'),
})

export const trendAnswer = z.object({
  qq: z.int(),
  nickname: z.string().nullable(),
  days: z.int(),
  points: z.array(
    z.object({
      date: z.iso.date(),
      ...ratings,
      record_count: z.int(),
      delta: z.int().describe('The change since the previous point; 0 if either is unknown.'),
    }),
  ),
  summary: z.object({
    start_rating: z.int().nullable(),
    end_rating: z.int().nullable(),
    rating_delta: z.int().describe('The change from the first point to the last; 0 if either is unknown.'),
    days_with_data: z.int(),
  }),
})
export type TrendAnswer = z.output<typeof trendAnswer>
