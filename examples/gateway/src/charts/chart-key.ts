import { CHART_TYPES, type ChartKey, type ChartType, chartTypeOf, LEVELS, type Level } from './chart.ts'

/** DX music has the id of its standard one and this much more. */
const DX_OFFSET = 10_000

/** A chart as the chart preview addresses it. Standard and DX music share one id. */
export interface PreviewKey {
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

/** The chart that such a text means; `undefined` for a text of another form, and for a kind that the id is not of. */
export function parsePreviewKey(text: string): ChartKey | undefined {
  const match = /^([1-9]\d{0,8}):([a-z]+):([1-6])$/.exec(text)
  if (match === null) return undefined
  const [, songId, kind, difficulty] = match
  const musicId = Number(songId) + (kind === 'dx' ? DX_OFFSET : 0)
  const level = LEVELS[Number(difficulty) - 1]
  const isKind = (CHART_TYPES as readonly (string | undefined)[]).includes(kind) && chartTypeOf(musicId) === kind
  return isKind && level !== undefined ? { musicId, level } : undefined
}
