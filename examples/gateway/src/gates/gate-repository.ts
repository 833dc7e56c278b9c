import type { Clock } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import type { Db, GateTable } from '../db/schema.ts'
import { withPlayer } from '../db/with-player.ts'

/** All gates: 1 to 10. */
export const GATE_IDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const
type GateId = (typeof GATE_IDS)[number]

/** A player's progress at a gate. Times are epoch milliseconds; `null`: not yet. */
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

/** A gate without progress. */
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

/** Players' progress at gates. */
export class GateRepository {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Returns all gates in order, including those without progress. */
  async all(userId: string): Promise<Gate[]> {
    const rows = await this.#db.selectFrom('gates').selectAll().where('user_id', '=', userId).execute()
    const touched = new Map(rows.map((row) => [row.gate_id, fromRow(row)]))
    return GATE_IDS.map((gateId) => touched.get(gateId) ?? untouchedGate(gateId))
  }

  /** Stores different gates over existing ones, all or none. */
  async putAll(userId: string, gates: readonly Gate[]): Promise<void> {
    await withPlayer(this.#db, this.#clock, userId, async ({ db, markChanged }) => {
      for (const gate of gates) {
        const { user_id, gate_id, ...values } = toRow(userId, gate)
        await db
          .insertInto('gates')
          .values({ user_id, gate_id, ...values })
          .onConflict((conflict) => conflict.columns(['user_id', 'gate_id']).doUpdateSet(values))
          .execute()
        await markChanged()
      }
    })
  }
}

function toRow(userId: string, gate: Gate): Selectable<GateTable> {
  return {
    user_id: userId,
    gate_id: gate.gateId,
    is_gate_found: flag(gate.isGateFound),
    is_key_found: flag(gate.isKeyFound),
    is_clear: flag(gate.isClear),
    total_rest_life: gate.totalRestLife,
    total_achievement: gate.totalAchievement,
    total_deluxscore: gate.totalDeluxscore,
    best_achievement: gate.bestAchievement,
    best_deluxscore: gate.bestDeluxscore,
    best_achievement_at: gate.bestAchievementAt,
    best_deluxscore_at: gate.bestDeluxscoreAt,
    play_count: gate.playCount,
    clear_at: gate.clearAt,
    last_play_at: gate.lastPlayAt,
    is_info_watched: flag(gate.isInfoWatched),
  }
}

function fromRow(row: Selectable<GateTable>): Gate {
  return {
    gateId: row.gate_id as GateId,
    isGateFound: row.is_gate_found === 1,
    isKeyFound: row.is_key_found === 1,
    isClear: row.is_clear === 1,
    totalRestLife: row.total_rest_life,
    totalAchievement: row.total_achievement,
    totalDeluxscore: row.total_deluxscore,
    bestAchievement: row.best_achievement,
    bestDeluxscore: row.best_deluxscore,
    bestAchievementAt: row.best_achievement_at,
    bestDeluxscoreAt: row.best_deluxscore_at,
    playCount: row.play_count,
    clearAt: row.clear_at,
    lastPlayAt: row.last_play_at,
    isInfoWatched: row.is_info_watched === 1,
  }
}

function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0
}
