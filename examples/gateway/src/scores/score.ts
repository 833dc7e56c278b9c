import * as z from 'zod'
import { CHART_TYPES, type Chart, chartTypeOf, LEVELS } from '../charts/chart.ts'
import { dxScoreMax, dxStar } from '../charts/dx-score.ts'
import { isoInstant } from '../http/instant.ts'
import { MAX_ACHIEVEMENT, scoreRank } from './achievement.ts'

const DX_SCORE_SOURCES = ['exact', 'fuzzy', 'unknown'] as const
const SCORE_SOURCES = ['api', 'lx', 'fish', 'bot'] as const

export const MUSIC_ID = 'Id of the music; with `level` it names a chart.'
export const LEVEL = '0 Basic, 1 Advanced, 2 Expert, 3 Master, 4 Re:Master, 10 utage.'

const level = z.literal(LEVELS).describe(LEVEL)

/** A score as clients see it. */
export const scoreSchema = z
  .object({
    musicId: z.int().describe(MUSIC_ID),
    level,
    type: z.enum(CHART_TYPES),
    title: z.string().optional().describe('Absent where the chart is not known.'),
    achievement: z.int().min(0).max(MAX_ACHIEVEMENT).describe('Percent x 10000: 1005000 is 100.5 %.'),
    dxScore: z.int().min(0),
    dxScoreMax: z.int().nullable().describe('Three times the notes; `null` where nobody has counted them.'),
    dxStar: z.int().min(0).max(5).nullable().describe('Stars of the DX score; `null` without a maximum.'),
    dxScoreSource: z.enum(DX_SCORE_SOURCES).describe('`fuzzy`: worked out from stars.'),
    comboStatus: z.int().min(0).max(4).describe('0 none, 1 fc, 2 fcp, 3 ap, 4 app.'),
    syncStatus: z.int().min(0).max(5).describe('0 none, 1 fs, 2 fsp, 3 fsd, 4 fsdp, 5 sync.'),
    scoreRank: z.int().min(0).max(13).describe('0 d, 1 c, 2 b, 3 bb, 4 bbb, 5 a, 6 aa, 7 aaa, 8 s to 13 sssp.'),
    playCount: z.int().nullable().describe('`null`: not known.'),
    source: z.enum(SCORE_SOURCES).describe('Who brought the score last.'),
    playedAt: isoInstant.nullable().describe('ISO 8601 UTC; `null`: not known.'),
    updatedAt: isoInstant.describe('When it last changed here, ISO 8601 UTC.'),
  })
  .meta({ id: 'Score' })
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
