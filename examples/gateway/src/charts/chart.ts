export const LEVELS = [0, 1, 2, 3, 4, 10] as const
/** Basic, Advanced, Expert, Master, Re:Master, utage. */
export type Level = (typeof LEVELS)[number]

export const CHART_TYPES = ['standard', 'dx', 'utage'] as const
export type ChartType = (typeof CHART_TYPES)[number]

/** One chart of a piece of music. */
export interface Chart {
  readonly musicId: number
  readonly level: Level
  readonly title: string
  readonly type: ChartType
  /** `null` where nobody has counted them. */
  readonly notes: number | null
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

/** What an id tells of its chart: standard below 10,000, utage from 100,000 on, DX between. */
export function chartTypeOf(musicId: number): ChartType {
  if (musicId < 10_000) return 'standard'
  return musicId < 100_000 ? 'dx' : 'utage'
}
