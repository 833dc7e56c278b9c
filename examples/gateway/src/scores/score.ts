import * as z from 'zod'
import { CHART_TYPES, type Chart, chartTypeOf, LEVELS } from '../charts/chart.ts'
import { MAX_ACHIEVEMENT, scoreRank } from './achievement.ts'
import { dxScoreMax, dxStar } from './dx-score.ts'

const DX_SCORE_SOURCES = ['exact', 'fuzzy', 'unknown'] as const
const SCORE_SOURCES = ['api', 'lx', 'fish', 'bot'] as const

const level = z.literal(LEVELS)
const isoInstant = z.iso.datetime({ precision: 3 })

/** A score as clients see it. */
export const scoreSchema = z.object({
  musicId: z.int(),
  level,
  type: z.enum(CHART_TYPES),
  /** Absent where the chart is not known. */
  title: z.string().optional(),
  /** Percent x 10000. */
  achievement: z.int().min(0).max(MAX_ACHIEVEMENT),
  dxScore: z.int().min(0),
  dxScoreMax: z.int().nullable(),
  dxStar: z.int().min(0).max(5).nullable(),
  dxScoreSource: z.enum(DX_SCORE_SOURCES),
  comboStatus: z.int().min(0).max(4),
  syncStatus: z.int().min(0).max(5),
  scoreRank: z.int().min(0).max(13),
  playCount: z.int().nullable(),
  source: z.enum(SCORE_SOURCES),
  playedAt: isoInstant.nullable(),
  updatedAt: isoInstant,
})
export type Score = z.output<typeof scoreSchema>

/** What a play is worth: all of a score that is not worked out from it. */
export interface Play {
  readonly musicId: number
  readonly level: Score['level']
  readonly achievement: number
  readonly dxScore: number
  readonly dxScoreSource: Score['dxScoreSource']
  readonly comboStatus: number
  readonly syncStatus: number
}

/** A play as it is kept. Instants are epoch milliseconds. */
export interface StoredScore extends Play {
  readonly playCount: number | null
  readonly source: Score['source']
  readonly playedAt: number | null
  readonly updatedAt: number
}

/** A stored score as clients see it, with what its chart adds. */
export function toScore(stored: StoredScore, chart: Chart | undefined): Score {
  const max = dxScoreMax(chart?.notes ?? null)
  return {
    musicId: stored.musicId,
    level: stored.level,
    type: chart?.type ?? chartTypeOf(stored.musicId),
    ...(chart === undefined ? {} : { title: chart.title }),
    achievement: stored.achievement,
    dxScore: stored.dxScore,
    dxScoreMax: max,
    dxStar: dxStar(stored.dxScore, max),
    dxScoreSource: stored.dxScoreSource,
    comboStatus: stored.comboStatus,
    syncStatus: stored.syncStatus,
    scoreRank: scoreRank(stored.achievement),
    playCount: stored.playCount,
    source: stored.source,
    playedAt: stored.playedAt === null ? null : new Date(stored.playedAt).toISOString(),
    updatedAt: new Date(stored.updatedAt).toISOString(),
  }
}

const PLAY_FIELDS = ['achievement', 'dxScore', 'dxScoreSource', 'comboStatus', 'syncStatus'] as const

/** Whether two plays of a chart are worth the same. */
export function isSamePlay(a: Play, b: Play): boolean {
  return PLAY_FIELDS.every((field) => a[field] === b[field])
}
