import * as z from 'zod'
import type { Detail } from '../http/http-error.ts'
import { type Chart, chartText, chartTypeOf, type Level, type NoteCounts, totalOf } from './chart.ts'

const MAX_ID = 999_999_999
const MAX_NOTES = 33_333

const ID_ERROR = `expected an id from 1 to ${MAX_ID}`
const id = z
  .union([z.string().regex(/^[1-9]\d{0,8}$/, ID_ERROR), z.int(ID_ERROR).min(1, ID_ERROR).max(MAX_ID, ID_ERROR)], {
    error: ID_ERROR,
  })
  .transform(Number)

/** Databases reject a NUL in a text. */
const text = (most: number) =>
  z
    .string()
    .max(most)
    .refine((value) => !value.includes('\0'), 'expected no NUL')

const note = z.int('expected whole numbers').min(0).max(MAX_NOTES)

/** Taps, holds, slides, touches if there are any, breaks. */
const notes = z.union([z.tuple([note, note, note, note]), z.tuple([note, note, note, note, note])], {
  error: `expected 4 or 5 whole numbers from 0 to ${MAX_NOTES}: tap, hold, slide, (touch,) break`,
})

const music = z
  .object({
    id,
    title: text(200).min(1),
    ds: z.array(z.number().min(0).max(99)),
    level: z.array(text(8)),
    charts: z
      .array(z.object({ notes, charter: text(200).default('') }))
      .min(1)
      .max(5),
    basic_info: z.object({ artist: text(200).optional() }).default({}),
  })
  .refine(({ ds, level, charts }) => ds.length === charts.length && level.length === charts.length, {
    error: 'expected as many "ds" and "level" as "charts"',
  })

type Music = z.output<typeof music>

/** The music data has the wrong form. */
export class MusicDataError extends Error {
  override readonly name: string = 'MusicDataError'
  readonly faults: readonly Detail[]

  constructor(faults: readonly Detail[]) {
    super(`The music data has ${faults.length} faults`)
    this.faults = faults
  }
}

/**
 * Parses music data in the form that Diving-Fish publishes: a list of music, each with the difficulties (`ds`, `level`)
 * and note counts (`charts`) of its charts from Basic on.
 *
 * @throws {MusicDataError} naming every fault by its place in the list
 */
export function parseMusicData(data: unknown): Chart[] {
  if (!Array.isArray(data)) throw new MusicDataError([{ path: '', msg: 'expected a list of music' }])
  const faults: Detail[] = []
  const seen = new Set<string>()
  const charts: Chart[] = []
  for (const [index, each] of data.entries()) {
    const parsed = music.safeParse(each)
    if (!parsed.success) {
      faults.push(
        ...parsed.error.issues.map(({ path, message }) => ({ path: [index, ...path].join('.'), msg: message })),
      )
      continue
    }
    for (const chart of chartsOf(parsed.data)) {
      const key = chartText(chart)
      if (seen.has(key)) faults.push({ path: String(index), msg: `the chart ${key} is in the list twice` })
      seen.add(key)
      charts.push(chart)
    }
  }
  if (faults.length > 0) throw new MusicDataError(faults)
  return charts
}

function chartsOf({ id: musicId, title, ds, level, charts, basic_info: { artist } }: Music): Chart[] {
  const type = chartTypeOf(musicId)
  // Two charts of one utage are the halves of a chart for two players. The table has room for the first.
  const listed = type === 'utage' ? charts.slice(0, 1) : charts
  return listed.map(({ notes: numbers, charter }, index): Chart => {
    const counts = countsOf(numbers)
    return {
      musicId,
      level: type === 'utage' ? 10 : (index as Level),
      title,
      type,
      notes: totalOf(counts),
      counts,
      artist: artist === undefined || artist === '' ? null : artist,
      charter: charter === '' || charter === '-' ? null : charter,
      difficulty: level[index] ?? null,
      constant: ds[index] ?? null,
    }
  })
}

function countsOf(numbers: readonly number[]): NoteCounts {
  const [taps = 0, holds = 0, slides = 0, ...rest] = numbers
  const [touches = 0, breaks = 0] = rest.length === 1 ? [0, ...rest] : rest
  return { taps, holds, slides, touches, breaks }
}
