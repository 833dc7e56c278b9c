/** The gates there are: 1 to 10. */
export const GATE_IDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const
export type GateId = (typeof GATE_IDS)[number]

/** How far a player got at a gate. Instants are epoch milliseconds; `null`: not yet. */
export interface Gate {
  readonly gateId: GateId
  readonly isGateFound: boolean
  readonly isKeyFound: boolean
  readonly isClear: boolean
  readonly totalRestLife: number
  readonly totalAchievement: number
  readonly totalDeluxscore: number
  readonly bestAchievement: number
  readonly bestDeluxscore: number
  readonly bestAchievementAt: number | null
  readonly bestDeluxscoreAt: number | null
  readonly playCount: number
  readonly clearAt: number | null
  readonly lastPlayAt: number | null
  readonly isInfoWatched: boolean
}

/** An untouched gate. */
export function untouchedGate(gateId: GateId): Gate {
  return {
    gateId,
    isGateFound: false,
    isKeyFound: false,
    isClear: false,
    totalRestLife: 0,
    totalAchievement: 0,
    totalDeluxscore: 0,
    bestAchievement: 0,
    bestDeluxscore: 0,
    bestAchievementAt: null,
    bestDeluxscoreAt: null,
    playCount: 0,
    clearAt: null,
    lastPlayAt: null,
    isInfoWatched: false,
  }
}
