import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { Db } from '../db/schema.ts'
import { withPlayer } from '../db/with-player.ts'
import { envelope, type Route, success, userRoute } from '../http/route.ts'
import { isoInstant } from '../http/schemas.ts'

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
    userRoute('POST /v1/user/kaleidx-scope', {
      id: 'readGates',
      tag: 'User',
      summary: 'List all gates, 1 to 10',
      description: "The player's progress at each gate.",
      body: z.object({}),
      answer: gatesAnswer,
      operation: 'user.gates',
      async handle({ user }) {
        const rows = await db.selectFrom('gates').select('gate').where('user_id', '=', user.id).execute()
        const gates = rows.map((row): Gate => JSON.parse(row.gate))
        const touched = new Map(gates.map((each) => [each.gateId, each]))
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
    await player.db
      .insertInto('gates')
      .values(gates.map((each) => ({ user_id: userId, gate_id: each.gateId, gate: JSON.stringify(each) })))
      .onConflict((conflict) =>
        conflict.columns(['user_id', 'gate_id']).doUpdateSet(({ ref }) => ({ gate: ref('excluded.gate') })),
      )
      .execute()
    await player.markChanged()
  })
}
