import { type Chart, chartText, dxScoreMax, leastDxScore, MAX_STARS } from '../charts/chart.ts'
import { type Detail, type ErrorCode, invalid } from '../http/http-error.ts'
import type { UpsertBody } from './bodies.ts'
import type { Play } from './score.ts'

/** A play and its chart. */
export interface ChartedPlay {
  readonly play: Play
  readonly chart: Chart
}

/** More than any chart has: the maximum for charts whose own is unknown. */
const MOST_DX_SCORE = 99_999

type Entry = UpsertBody['musicList'][number]

interface EntryFault extends Detail {
  readonly code: ErrorCode
}

/**
 * Converts a request's entries to plays, with their charts.
 *
 * @throws {HttpError} with the code of the first fault, naming all of them
 */
export function resolvePlays(entries: readonly Entry[], charts: ReadonlyMap<string, Chart>): ChartedPlay[] {
  const faults: EntryFault[] = []
  const plays = entries.flatMap((entry, index): ChartedPlay[] => {
    const path = `musicList.${index}`
    const chart = charts.get(chartText(entry))
    if (chart === undefined) {
      const msg = `there is no chart of music ${entry.musicId} at level ${entry.level}`
      faults.push({ code: 'unknown_chart', path, msg })
      return []
    }
    const dxScore = entry.fuzzy ? fuzzyDxScore(entry, chart) : exactDxScore(entry, chart)
    if (typeof dxScore !== 'number') {
      faults.push({ ...dxScore, path: `${path}.dxScore` })
      return []
    }
    const { musicId, level, achievement, comboStatus, syncStatus, fuzzy } = entry
    const dxScoreSource = fuzzy ? 'fuzzy' : 'exact'
    return [{ chart, play: { musicId, level, achievement, dxScore, dxScoreSource, comboStatus, syncStatus } }]
  })
  const [first] = faults
  if (first === undefined) return plays
  throw invalid(
    faults.map(({ path, msg }) => ({ path, msg })),
    first.code,
  )
}

function exactDxScore({ dxScore }: Entry, { notes }: Chart): number | Omit<EntryFault, 'path'> {
  const max = dxScoreMax(notes) ?? MOST_DX_SCORE
  if (dxScore <= max) return dxScore
  return { code: 'dx_score_too_high', msg: `${dxScore} is above the chart's maximum of ${max}` }
}

function fuzzyDxScore({ dxScore: stars }: Entry, { notes }: Chart): number | Omit<EntryFault, 'path'> {
  if (stars > MAX_STARS) {
    return { code: 'validation_failed', msg: `expected 0 to ${MAX_STARS} stars, since fuzzy is true` }
  }
  const max = dxScoreMax(notes)
  if (max !== null) return leastDxScore(stars, max)
  return { code: 'validation_failed', msg: "the chart's maximum is not known: send the score itself, fuzzy false" }
}
