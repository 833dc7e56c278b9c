import { isSamePlay, type Play, type StoredScore } from './score.ts'
import { syncStrength } from './statuses.ts'

/** The stored part of a play, from any source. */
export type PlayRecord = Play & Pick<StoredScore, 'playCount' | 'playedAt'>

type DxScore = Pick<Play, 'dxScore' | 'dxScoreSource'>

/** A score that was read off before one that was worked out from stars. */
const CERTAINTY = { exact: 2, fuzzy: 1, unknown: 0 } as const

/**
 * The best of each field of two plays of one chart, in whatever order they come:
 * the higher achievement and combo, the stronger sync, the larger play count, the later play, and of DX scores an exact
 * one before a fuzzy one, then the higher. A DX score of 0 stands for an unknown one, and gives way to any other.
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

/** Whether two records of a chart say the same. */
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
