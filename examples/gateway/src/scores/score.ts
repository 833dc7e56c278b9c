import * as z from 'zod'
import { CHART_TYPES, type Chart, chartTypeOf, dxScoreMax, dxStar, LEVELS } from '../charts/chart.ts'
import { instantText, isoInstant } from '../http/schemas.ts'

/** One percent of achievement in stored scores. */
const PERCENT = 10_000
/** The highest possible achievement: 101 %. */
export const MAX_ACHIEVEMENT = 1_010_000

/** Converts a percentage to percent x 10000. It rounds, since `100.57 * 10000` in binary is `1005699.9999999999`. */
export function achievementOfPercent(percent: number): number {
  return Math.round(percent * PERCENT)
}

/**
 * Parses an achievement into percent x 10000, from a percentage (at most 101), that integer itself (above 10000), or
 * either of them as text.
 *
 * @returns `undefined` for anything else
 */
export function parseAchievement(value: unknown): number | undefined {
  if (typeof value === 'string') return /^\d{1,7}(?:\.\d{1,8})?$/.test(value) ? fromNumber(Number(value)) : undefined
  return typeof value === 'number' ? fromNumber(value) : undefined
}

function fromNumber(value: number): number | undefined {
  if (value >= 0 && value <= 101) return achievementOfPercent(value)
  return Number.isInteger(value) && value > PERCENT && value <= MAX_ACHIEVEMENT ? value : undefined
}

/** The lowest achievement of each rank above d, in percent x 10000: c b bb bbb a aa aaa s sp ss ssp sss sssp. */
const RANKS = [50, 60, 70, 75, 80, 90, 94, 97, 98, 99, 99.5, 100, 100.5].map((percent) => percent * PERCENT)

/** The rank of an achievement, 0 (d) to 13 (sssp). */
export function scoreRank(achievement: number): number {
  return RANKS.filter((least) => achievement >= least).length
}

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
    title: z.string().optional().describe('Absent if the chart is unknown.'),
    achievement: z.int().min(0).max(MAX_ACHIEVEMENT).describe('Percent x 10000: 1005000 is 100.5 %.'),
    dxScore: z.int().min(0),
    dxScoreMax: z.int().nullable().describe('Three times the notes; `null`: the notes are unknown.'),
    dxStar: z.int().min(0).max(5).nullable().describe('Stars of the DX score; `null` without a maximum.'),
    dxScoreSource: z.enum(DX_SCORE_SOURCES).describe('`fuzzy`: computed from stars.'),
    comboStatus: z.int().min(0).max(4).describe('0 none, 1 fc, 2 fcp, 3 ap, 4 app.'),
    syncStatus: z.int().min(0).max(5).describe('0 none, 1 fs, 2 fsp, 3 fsd, 4 fsdp, 5 sync.'),
    scoreRank: z.int().min(0).max(13).describe('0 d, 1 c, 2 b, 3 bb, 4 bbb, 5 a, 6 aa, 7 aaa, 8 s to 13 sssp.'),
    playCount: z.int().nullable().describe('`null`: unknown.'),
    source: z.enum(SCORE_SOURCES).describe('The last source of the score.'),
    playedAt: isoInstant.nullable().describe('ISO 8601 UTC; `null`: unknown.'),
    updatedAt: isoInstant.describe('When it last changed, ISO 8601 UTC.'),
  })
  .meta({ id: 'Score' })
export type Score = z.output<typeof scoreSchema>

/** A play without the values that are computed from it. */
export interface Play {
  readonly musicId: number
  readonly level: Score['level']
  readonly achievement: number
  readonly dxScore: number
  readonly dxScoreSource: Score['dxScoreSource']
  readonly comboStatus: number
  readonly syncStatus: number
}

/** A play as a source recorded it. */
export interface PlayRecord extends Play {
  readonly playCount: number | null
  /** Epoch milliseconds. */
  readonly playedAt: number | null
}

/** A stored play. Instants are epoch milliseconds. */
export interface StoredScore extends PlayRecord {
  readonly source: Score['source']
  readonly updatedAt: number
  /** The account of score sync that wrote the whole score; `null` if none did. */
  readonly syncQq: number | null
  /** The number of that account's write which last had it. */
  readonly syncTurn: number | null
}

/** A score that sync didn't write as a whole, so that no snapshot deletes it. */
export const NOT_SYNCED = { syncQq: null, syncTurn: null } as const

/** A stored score as clients see it, with facts of its chart. */
export function toScore(stored: StoredScore, chart: Chart | undefined): Score {
  const { playedAt, updatedAt, syncQq: _qq, syncTurn: _turn, ...play } = stored
  const max = dxScoreMax(chart?.notes ?? null)
  return {
    ...play,
    type: chart?.type ?? chartTypeOf(play.musicId),
    ...(chart === undefined ? {} : { title: chart.title }),
    dxScoreMax: max,
    dxStar: dxStar(play.dxScore, max),
    scoreRank: scoreRank(play.achievement),
    playedAt: playedAt === null ? null : instantText(playedAt),
    updatedAt: instantText(updatedAt),
  }
}

const PLAY_FIELDS = ['achievement', 'dxScore', 'dxScoreSource', 'comboStatus', 'syncStatus'] as const

/** Whether two plays of a chart are worth the same. */
export function isSamePlay(a: Play, b: Play): boolean {
  return PLAY_FIELDS.every((field) => a[field] === b[field])
}

/** Whether two records of a chart are equal. */
export function isSameRecord(a: PlayRecord, b: PlayRecord): boolean {
  return isSamePlay(a, b) && a.playCount === b.playCount && a.playedAt === b.playedAt
}

/** The score after a play that replaces what is stored; `undefined`: it is worth the same. */
export function replacing(play: Play, before: StoredScore | undefined, updatedAt: number): StoredScore | undefined {
  if (before !== undefined && isSamePlay(before, play)) return undefined
  return { playCount: null, playedAt: null, ...before, ...play, source: 'api', updatedAt, ...NOT_SYNCED }
}

/** From which achievement on, in percent, a chart's difficulty counts with which factor. */
const FACTORS = [
  [100.5, 22.4],
  [100, 21.6],
  [99.5, 21.1],
  [99, 20.8],
  [98, 20.3],
  [97, 20],
  [94, 16.8],
  [90, 15.2],
  [80, 13.6],
  [75, 12],
  [70, 11.2],
  [60, 9.6],
  [50, 8],
  [0, 7],
] as const

/** The same in integers: percent x 10000, and tenths. */
const STEPS = FACTORS.map(([percent, factor]) => [percent * 10_000, Math.round(factor * 10)] as const)

/** The highest achievement that counts, in percent x 10000. */
const MOST_COUNTED = 1_005_000

/**
 * The rating of a play by Diving-Fish's formula (`ra`), in integers: binary fractions would sometimes be one too low.
 *
 * @param constant the chart's exact difficulty, such as 13.7
 * @param achievement percent x 10000
 */
export function chartRating(constant: number, achievement: number): number {
  const factor = STEPS.find(([least]) => achievement >= least)?.[1] ?? 0
  const tenths = Math.round(constant * 10)
  return Math.floor((tenths * Math.min(achievement, MOST_COUNTED) * factor) / 100_000_000)
}
