import { setImmediate } from 'node:timers/promises'
import { chartText } from '../charts/chart.ts'
import { isSameRecord, mergeBest, type PlayRecord } from './merge-best.ts'
import type { StoredScore } from './score.ts'
import type { PlayerScores } from './score-repository.ts'

/** The source of imported plays, and the time of the import. */
export type ImportStamp = Pick<StoredScore, 'source' | 'updatedAt'>

/** What became of each play; a second one of the same chart is merged into the first and counts as unchanged. */
export interface ImportCounts {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
}

/** Charts that are read and written at once: a few milliseconds of an embedded database. */
const SLICE = 50

/**
 * Merges any number of plays into a player's scores, the best of each field, in slices that let others have a turn
 * between them. A score that nothing is better than stays as it is, with its source and its time.
 */
export async function importBest(
  scores: PlayerScores,
  plays: readonly PlayRecord[],
  stamp: ImportStamp,
): Promise<ImportCounts> {
  const charts = [...bestByChart(plays).values()].sort((a, b) => a.musicId - b.musicId)
  let created = 0
  let updated = 0
  for (let start = 0; start < charts.length; start += SLICE) {
    const slice = charts.slice(start, start + SLICE)
    const stored = new Map((await scores.ofMusic(slice)).map((score) => [chartText(score), score]))
    const changed = slice.flatMap((play): StoredScore[] => {
      const before = stored.get(chartText(play))
      if (before === undefined) created++
      const after = before === undefined ? play : mergeBest(before, play)
      return before !== undefined && isSameRecord(before, after) ? [] : [{ ...after, ...stamp }]
    })
    updated += changed.filter((score) => stored.has(chartText(score))).length
    await scores.putAll(changed)
    await setImmediate()
  }
  return { created, updated, unchanged: plays.length - created - updated }
}

function bestByChart(plays: readonly PlayRecord[]): Map<string, PlayRecord> {
  const best = new Map<string, PlayRecord>()
  for (const play of plays) {
    const key = chartText(play)
    const earlier = best.get(key)
    best.set(key, earlier === undefined ? play : mergeBest(earlier, play))
  }
  return best
}
