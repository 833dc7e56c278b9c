import { setImmediate } from 'node:timers/promises'
import { chartText } from '../charts/chart.ts'
import { syncStrength } from './bodies.ts'
import type { PlayerScores } from './player-scores.ts'
import { isSamePlay, NOT_SYNCED, type Play, type StoredScore } from './score.ts'

/** The source of imported plays, and the time of the import. */
type ImportStamp = Pick<StoredScore, 'source' | 'updatedAt'>

/** The outcome per play. A second play of a chart is merged into the first and counts as unchanged. */
export interface ImportCounts {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
}

/** How many charts are read and written together: a few milliseconds in an embedded database. */
const SLICE = 50

/**
 * Merges any number of plays into a player's scores, keeping the best of each field, in slices that let other requests
 * take turns. A score that isn't improved keeps its source and its time.
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
      return before !== undefined && isSameRecord(before, after) ? [] : [{ ...after, ...stamp, ...NOT_SYNCED }]
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

/** The stored part of a play, from any source. */
export type PlayRecord = Play & Pick<StoredScore, 'playCount' | 'playedAt'>

type DxScore = Pick<Play, 'dxScore' | 'dxScoreSource'>

/** A score that was read from the screen is better than one computed from stars. */
const CERTAINTY = { exact: 2, fuzzy: 1, unknown: 0 } as const

/**
 * The best of each field of two plays of one chart, in any order: the higher achievement and combo, the stronger sync,
 * the larger play count, the later play. For DX scores an exact one wins over a fuzzy one, then the higher. A DX score
 * of 0 means unknown, and any other wins over it.
 */
export function mergeBest(before: PlayRecord, incoming: PlayRecord): PlayRecord {
  const { dxScore, dxScoreSource } = bestDxScore(before, incoming)
  return {
    musicId: before.musicId,
    level: before.level,
    achievement: Math.max(before.achievement, incoming.achievement),
    dxScore,
    dxScoreSource,
    comboStatus: Math.max(before.comboStatus, incoming.comboStatus),
    syncStatus: strongerSync(before.syncStatus, incoming.syncStatus),
    playCount: larger(before.playCount, incoming.playCount),
    playedAt: larger(before.playedAt, incoming.playedAt),
  }
}

/** Whether two records of a chart are equal. */
export function isSameRecord(a: PlayRecord, b: PlayRecord): boolean {
  return isSamePlay(a, b) && a.playCount === b.playCount && a.playedAt === b.playedAt
}

function bestDxScore(a: DxScore, b: DxScore): DxScore {
  if (a.dxScore === 0 || b.dxScore === 0) return a.dxScore === b.dxScore ? surer(a, b) : higher(a, b)
  return a.dxScoreSource === b.dxScoreSource ? higher(a, b) : surer(a, b)
}

function higher(a: DxScore, b: DxScore): DxScore {
  return b.dxScore > a.dxScore ? b : a
}

function surer(a: DxScore, b: DxScore): DxScore {
  return CERTAINTY[b.dxScoreSource] > CERTAINTY[a.dxScoreSource] ? b : a
}

function strongerSync(a: number, b: number): number {
  return syncStrength(b) > syncStrength(a) ? b : a
}

function larger(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.max(a, b)
}
