export const LEVELS = [0, 1, 2, 3, 4, 10] as const
/** Basic, Advanced, Expert, Master, Re:Master, utage. */
export type Level = (typeof LEVELS)[number]

export const CHART_TYPES = ['standard', 'dx', 'utage'] as const
export type ChartType = (typeof CHART_TYPES)[number]

/** How many notes of each kind a chart has. */
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
  /** All of them together. */
  readonly notes: number | null
  readonly counts: NoteCounts | null
  readonly artist: string | null
  readonly charter: string | null
  /** As players write it: `13+`. */
  readonly difficulty: string | null
  /** The exact difficulty, for example 13.7. */
  readonly constant: number | null
}

/** What addresses a chart. */
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
