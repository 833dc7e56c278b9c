import type { Clock } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import * as z from 'zod'
import type { Db, GateTable } from '../db/schema.ts'
import { withPlayer } from '../db/with-player.ts'
import { envelope, type Route, route, success } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'

/** All gates. */
const GATE_IDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const

const date = isoInstant.nullable()
const gate = z.object({
  gateId: z.literal(GATE_IDS),
  isGateFound: z.boolean(),
  isKeyFound: z.boolean(),
  isClear: z.boolean(),
  totalRestLife: z.int(),
  totalAchievement: z.int(),
  totalDeluxscore: z.int(),
  bestAchievement: z.int(),
  bestDeluxscore: z.int(),
  bestAchievementDate: date,
  bestDeluxscoreDate: date,
  playCount: z.int(),
  clearDate: date,
  lastPlayDate: date,
  isInfoWatched: z.boolean(),
})
export const gatesAnswer = envelope(z.object({ length: z.int(), userKaleidxScopeList: z.array(gate) }))

/** A player's progress at a gate. A date is `null` if it has not happened. */
export type Gate = Readonly<z.output<typeof gate>>

/** The route to read a player's progress at gates. */
export function gateRoutes(db: Db): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/user/kaleidx-scope',
      docs: {
        id: 'readGates',
        tag: 'User',
        summary: 'List all gates, 1 to 10',
        description: "The player's progress at each gate.",
      },
      access: 'user',
      body: z.object({}),
      answer: gatesAnswer,
      operation: 'user.gates',
      async handle({ user }) {
        const rows = await db.selectFrom('gates').selectAll().where('user_id', '=', user.id).execute()
        const touched = new Map(rows.map((row) => [row.gate_id, gateOf(row)]))
        const userKaleidxScopeList = GATE_IDS.map((gateId) => touched.get(gateId) ?? untouchedGate(gateId))
        return { body: success({ length: userKaleidxScopeList.length, userKaleidxScopeList }) }
      },
    }),
  ]
}

/** A gate without progress. */
export function untouchedGate(gateId: Gate['gateId']): Gate {
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
    bestAchievementDate: null,
    bestDeluxscoreDate: null,
    playCount: 0,
    clearDate: null,
    lastPlayDate: null,
    isInfoWatched: false,
  }
}

/** Stores different gates over existing ones, all or none. */
export async function putGates(db: Db, clock: Clock, userId: string, gates: readonly Gate[]): Promise<void> {
  await withPlayer(db, clock, userId, async (player) => {
    for (const each of gates) {
      const { user_id, gate_id, ...values } = rowOf(userId, each)
      await player.db
        .insertInto('gates')
        .values({ user_id, gate_id, ...values })
        .onConflict((conflict) => conflict.columns(['user_id', 'gate_id']).doUpdateSet(values))
        .execute()
    }
    await player.markChanged()
  })
}

function rowOf(userId: string, from: Gate): Selectable<GateTable> {
  return {
    user_id: userId,
    gate_id: from.gateId,
    is_gate_found: from.isGateFound ? 1 : 0,
    is_key_found: from.isKeyFound ? 1 : 0,
    is_clear: from.isClear ? 1 : 0,
    total_rest_life: from.totalRestLife,
    total_achievement: from.totalAchievement,
    total_deluxscore: from.totalDeluxscore,
    best_achievement: from.bestAchievement,
    best_deluxscore: from.bestDeluxscore,
    best_achievement_at: instantOf(from.bestAchievementDate),
    best_deluxscore_at: instantOf(from.bestDeluxscoreDate),
    play_count: from.playCount,
    clear_at: instantOf(from.clearDate),
    last_play_at: instantOf(from.lastPlayDate),
    is_info_watched: from.isInfoWatched ? 1 : 0,
  }
}

function gateOf(row: Selectable<GateTable>): Gate {
  return {
    gateId: row.gate_id as Gate['gateId'],
    isGateFound: row.is_gate_found === 1,
    isKeyFound: row.is_key_found === 1,
    isClear: row.is_clear === 1,
    totalRestLife: row.total_rest_life,
    totalAchievement: row.total_achievement,
    totalDeluxscore: row.total_deluxscore,
    bestAchievement: row.best_achievement,
    bestDeluxscore: row.best_deluxscore,
    bestAchievementDate: dateOf(row.best_achievement_at),
    bestDeluxscoreDate: dateOf(row.best_deluxscore_at),
    playCount: row.play_count,
    clearDate: dateOf(row.clear_at),
    lastPlayDate: dateOf(row.last_play_at),
    isInfoWatched: row.is_info_watched === 1,
  }
}

function instantOf(text: string | null): number | null {
  return text === null ? null : Date.parse(text)
}

function dateOf(at: number | null): string | null {
  return at === null ? null : instantText(at)
}
