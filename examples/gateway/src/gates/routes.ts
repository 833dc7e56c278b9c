import * as z from 'zod'
import { isoInstant } from '../http/instant.ts'
import { envelope, type Route, route, success } from '../http/route.ts'
import { GATE_IDS, type Gate, type GateRepository } from './gate-repository.ts'

const gatesBody = z.object({})

const date = isoInstant.nullable()

const gateSchema = z.object({
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

export const gatesAnswer = envelope(z.object({ length: z.int(), userKaleidxScopeList: z.array(gateSchema) }))

/** A gate as shown to clients. */
function toGateBody({
  bestAchievementAt,
  bestDeluxscoreAt,
  clearAt,
  lastPlayAt,
  ...rest
}: Gate): z.output<typeof gateSchema> {
  return {
    ...rest,
    bestAchievementDate: toDate(bestAchievementAt),
    bestDeluxscoreDate: toDate(bestDeluxscoreAt),
    clearDate: toDate(clearAt),
    lastPlayDate: toDate(lastPlayAt),
  }
}

function toDate(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

/** Routes to read a player's progress at gates. */
export function gateRoutes(gates: GateRepository): Route[] {
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
      body: gatesBody,
      answer: gatesAnswer,
      operation: 'user.gates',
      async handle({ user }) {
        const userKaleidxScopeList = (await gates.all(user.id)).map(toGateBody)
        return { body: success({ length: userKaleidxScopeList.length, userKaleidxScopeList }) }
      },
    }),
  ]
}
