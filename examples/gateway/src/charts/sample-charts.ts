import { type Chart, type ChartType, chartTypeOf, LEVELS, type Level, type NoteCounts } from './chart.ts'

/** Invented music: id, title, and the notes of each chart by level. */
const MUSIC: readonly (readonly [
  musicId: number,
  title: string,
  notes: { readonly [level in Level]?: number | null },
])[] = [
  [101, 'Paper Lantern Parade', { 0: 112, 1: 178, 2: 316, 3: 524 }],
  [102, 'Tidewater Telegram', { 0: 98, 1: 164, 2: 351, 3: 602, 4: 688 }],
  [103, 'Northbound Kite', { 2: 402, 3: 655 }],
  [10104, 'Glass Orchard', { 0: 125, 1: 203, 2: 388, 3: 700 }],
  [10105, 'Seven Steps to Saturn', { 1: 231, 2: 455, 3: 811, 4: 902 }],
  [10106, 'Clockwork Firefly', { 2: 498, 3: 1000 }],
  [100107, '[Utage] Paper Lantern Parade', { 10: 777 }],
  [100108, '[Utage] Uncounted', { 10: null }],
]

/** A small table of charts, made for this example. */
export const SAMPLE_CHARTS: readonly Chart[] = MUSIC.flatMap(([musicId, title, byLevel]) =>
  LEVELS.flatMap((level): Chart[] => {
    const notes = byLevel[level]
    return notes === undefined ? [] : [sampleOf({ musicId, level, title, type: chartTypeOf(musicId), notes })]
  }),
)

function sampleOf(chart: Pick<Chart, 'musicId' | 'level' | 'title' | 'type' | 'notes'>): Chart {
  const { notes, type } = chart
  const constant = notes === null ? null : Math.round(Math.min(15, 2 + notes / 70) * 10) / 10
  const counts = notes === null ? null : splitNotes(notes, type)
  const difficulty = constant === null ? null : difficultyText(constant)
  return { ...chart, counts, artist: 'The Example Ensemble', charter: null, difficulty, constant }
}

/** Invented, so that the kinds add up. */
function splitNotes(notes: number, type: ChartType): NoteCounts {
  const holds = Math.floor(notes / 10)
  const slides = Math.floor(notes / 8)
  const touches = type === 'standard' ? 0 : Math.floor(notes / 20)
  const breaks = Math.floor(notes / 40)
  return { taps: notes - holds - slides - touches - breaks, holds, slides, touches, breaks }
}

/** Players write the integer part, with a plus from .6 on. */
function difficultyText(constant: number): string {
  const whole = Math.floor(constant)
  return constant - whole >= 0.6 ? `${whole}+` : String(whole)
}
