import type { Chart } from './charts.ts'
import type { Score } from './scores.ts'

/** An achievement of 1005000 is 100.5 %. */
const PER_PERCENT = 10_000

/** A score on one line. */
export function scoreText({ musicId, level, title, achievement, dxScore, dxScoreMax }: Score): string {
  const percent = `${(achievement / PER_PERCENT).toFixed(4)} %`
  const dx = dxScoreMax === null ? `${dxScore}` : `${dxScore}/${dxScoreMax}`
  return [`${musicId}`.padStart(6), `${level}`.padStart(2), percent.padStart(10), dx.padStart(9), title ?? ''].join(
    '  ',
  )
}

/** A chart on a few lines. */
export function chartText({ chartKey, title, artist, charter, level, constant, notes, dxScoreMax }: Chart): string[] {
  const facts = { key: chartKey, title, artist, charter, level, constant, notes, 'dx max': dxScoreMax }
  return Object.entries(facts).flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(8)} ${value}`]))
}
