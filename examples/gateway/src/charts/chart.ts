export const LEVELS = [0, 1, 2, 3, 4, 10] as const
/** Basic, Advanced, Expert, Master, Re:Master, utage. */
export type Level = (typeof LEVELS)[number]

export const CHART_TYPES = ['standard', 'dx', 'utage'] as const
export type ChartType = (typeof CHART_TYPES)[number]

/** A chart's notes by kind. */
export interface NoteCounts {
  readonly taps: number
  readonly holds: number
  readonly slides: number
  readonly touches: number
  readonly breaks: number
}

/** One chart of a piece of music. `null` stands for an unknown value. */
export interface Chart {
  readonly musicId: number
  readonly level: Level
  readonly title: string
  readonly type: ChartType
  /** The sum of all kinds. */
  readonly notes: number | null
  readonly counts: NoteCounts | null
  readonly artist: string | null
  readonly charter: string | null
  /** As players write it: `13+`. */
  readonly difficulty: string | null
  /** The exact difficulty, for example 13.7. */
  readonly constant: number | null
}

/** Identifies a chart. */
export interface ChartKey {
  readonly musicId: number
  readonly level: number
}

/** A chart's key as text, for maps and sets. */
export function chartText({ musicId, level }: ChartKey): string {
  return `${musicId}:${level}`
}

/** The type of a chart by its music id: standard below 10,000, utage from 100,000 on, DX between. */
export function chartTypeOf(musicId: number): ChartType {
  if (musicId < 10_000) return 'standard'
  return musicId < 100_000 ? 'dx' : 'utage'
}

export function totalOf({ taps, holds, slides, touches, breaks }: NoteCounts): number {
  return taps + holds + slides + touches + breaks
}

/** DX music has its standard music's id plus this number. */
const DX_OFFSET = 10_000

/** A chart as the chart preview addresses it. Standard and DX music share one id. */
interface PreviewKey {
  readonly songId: number
  readonly kind: ChartType
  /** 1 to 6: Basic, Advanced, Expert, Master, Re:Master, utage. */
  readonly difficulty: number
}

export function previewKeyOf({ musicId, level }: ChartKey): PreviewKey {
  const kind = chartTypeOf(musicId)
  const difficulty = LEVELS.indexOf(level as Level) + 1
  return { songId: kind === 'dx' ? musicId - DX_OFFSET : musicId, kind, difficulty }
}

/** `songId:kind:difficulty` */
export function previewText({ songId, kind, difficulty }: PreviewKey): string {
  return `${songId}:${kind}:${difficulty}`
}

/** Parses such a text; `undefined` for any other form, and for a kind that doesn't fit the id. */
export function parsePreviewKey(text: string): ChartKey | undefined {
  const match = /^([1-9]\d{0,8}):([a-z]+):([1-6])$/.exec(text)
  if (match === null) return undefined
  const [, songId, kind, difficulty] = match
  const musicId = Number(songId) + (kind === 'dx' ? DX_OFFSET : 0)
  const level = LEVELS[Number(difficulty) - 1]
  const isKind = (CHART_TYPES as readonly (string | undefined)[]).includes(kind) && chartTypeOf(musicId) === kind
  return isKind && level !== undefined ? { musicId, level } : undefined
}

/** The least share of the maximum for 0 to 5 stars, in percent. */
const STAR_PERCENT = [0, 85, 90, 93, 95, 97] as const

export const MAX_STARS = 5

/** The highest DX score of a chart; `null` if its notes are unknown. */
export function dxScoreMax(notes: number | null): number | null {
  return notes === null ? null : 3 * notes
}

/** Stars of a DX score, 0 to 5, computed in integers; `null` if the maximum is unknown. */
export function dxStar(dxScore: number, max: number | null): number | null {
  if (max === null || max === 0) return null
  return STAR_PERCENT.filter((percent) => dxScore * 100 >= max * percent).length - 1
}

/** The lowest DX score with that many stars. In fuzzy mode a star count means this score. */
export function leastDxScore(stars: number, max: number): number {
  return Math.ceil((max * STAR_PERCENT[stars as 0]) / 100)
}
