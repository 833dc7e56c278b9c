import * as z from 'zod'
import { envelope } from '../http/envelope.ts'
import { isoInstant } from '../http/instant.ts'
import { GATE_IDS, type Gate } from './gate.ts'

export const gatesBody = z.object({})

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

/** A gate as clients see it. */
export function toGateBody({
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
