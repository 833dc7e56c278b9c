import { chartText } from '../charts/chart.ts'
import { syncStrength } from './bodies.ts'
import type { PlayerScores } from './player-scores.ts'
import { isSameRecord, NOT_SYNCED, type Play, type PlayRecord, type StoredScore } from './score.ts'

/** The source of imported plays, and the time of the import. */
type ImportStamp = Pick<StoredScore, 'source' | 'updatedAt'>

/** The outcome per play. A second play of a chart is merged into the first and counts as unchanged. */
export interface ImportCounts {
  readonly created: number
  readonly updated: number
  readonly unchanged: number
}

/**
 * Merges any number of plays into a player's scores, keeping the best of each field. A score that isn't improved keeps
 * its source and its time.
 */
export async function importBest(
  scores: PlayerScores,
  plays: readonly PlayRecord[],
  stamp: ImportStamp,
): Promise<ImportCounts> {
  const best = new Map<string, PlayRecord>()
  for (const play of plays) best.set(chartText(play), mergeBest(best.get(chartText(play)) ?? play, play))
  const { created, updated } = await scores.write([...best.values()], (play, before) => {
    const after = mergeBest(before ?? play, play)
    return before !== undefined && isSameRecord(before, after) ? undefined : { ...after, ...stamp, ...NOT_SYNCED }
  })
  return { created, updated, unchanged: plays.length - created - updated }
}

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
  const isStronger = syncStrength(incoming.syncStatus) > syncStrength(before.syncStatus)
  return {
    musicId: before.musicId,
    level: before.level,
    achievement: Math.max(before.achievement, incoming.achievement),
    dxScore,
    dxScoreSource,
    comboStatus: Math.max(before.comboStatus, incoming.comboStatus),
    syncStatus: isStronger ? incoming.syncStatus : before.syncStatus,
    playCount: larger(before.playCount, incoming.playCount),
    playedAt: larger(before.playedAt, incoming.playedAt),
  }
}

function bestDxScore(a: DxScore, b: DxScore): DxScore {
  const higher = b.dxScore > a.dxScore ? b : a
  const surer = CERTAINTY[b.dxScoreSource] > CERTAINTY[a.dxScoreSource] ? b : a
  if (a.dxScore === 0 || b.dxScore === 0) return a.dxScore === b.dxScore ? surer : higher
  return a.dxScoreSource === b.dxScoreSource ? higher : surer
}

function larger(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.max(a, b)
}
