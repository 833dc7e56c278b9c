import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import type { Detail } from '../http/http-error.ts'
import { comboStatusSchema, syncStatusSchema } from '../scores/bodies.ts'
import { achievementOfPercent, type PlayRecord } from '../scores/score.ts'
import type { FetchedScores } from './score-source.ts'

/** The most records in one response: more than there are charts. */
export const MAX_RECORDS = 10_000
/** How many records are checked before other requests get a turn. */
const SLICE = 200

const PERCENT_ERROR = 'expected a percentage from 0 to 101'
/** More than any chart has. */
const MOST_DX_SCORE = 99_999
const DX_SCORE_ERROR = `expected a whole number from 0 to ${MOST_DX_SCORE}`

/** Fields that both sources write in the same form, converted to ours. */
export const fields = {
  levelIndex: z.literal([0, 1, 2, 3, 4], { error: 'expected 0 to 4' }),
  achievement: z.number(PERCENT_ERROR).min(0, PERCENT_ERROR).max(101, PERCENT_ERROR).transform(achievementOfPercent),
  dxScore: z.int(DX_SCORE_ERROR).min(0, DX_SCORE_ERROR).max(MOST_DX_SCORE, DX_SCORE_ERROR),
  combo: named(comboStatusSchema),
  sync: named(syncStatusSchema),
} as const

/** A status by its name. An absent or empty text is `none`. */
function named(schema: z.ZodType<number>): z.ZodType<number> {
  return z.preprocess((name) => name || 'none', schema)
}

/** The facts of a record, in our terms. */
export type Facts = Pick<PlayRecord, 'musicId' | 'achievement' | 'dxScore' | 'comboStatus' | 'syncStatus'> & {
  readonly levelIndex: 0 | 1 | 2 | 3 | 4
  readonly playedAt?: number | null | undefined
}

/** Converts a record to a play. Every utage chart has one level, and a DX score of 0 means unknown. */
export function playOf({ levelIndex, playedAt = null, ...facts }: Facts): PlayRecord {
  const level = facts.musicId >= LEAST_UTAGE_ID ? 10 : levelIndex
  return { ...facts, level, dxScoreSource: facts.dxScore === 0 ? 'unknown' : 'exact', playCount: null, playedAt }
}

/** The first id of utage charts. */
export const LEAST_UTAGE_ID = 100_000

/** Reads records one by one. A record that isn't a play is reported as a fault and doesn't affect the others. */
export async function readRecords(
  records: readonly unknown[],
  path: string,
  schema: z.ZodType<PlayRecord>,
): Promise<Pick<FetchedScores, 'fetched' | 'plays' | 'faults'>> {
  const plays: PlayRecord[] = []
  const faults: Detail[] = []
  for (const [index, record] of records.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate()
    const result = schema.safeParse(record)
    if (result.success) plays.push(result.data)
    else faults.push(faultOf(result.error, `${path}.${index}`))
  }
  return { fetched: records.length, plays, faults }
}

function faultOf({ issues: [issue] }: z.ZodError, path: string): Detail {
  return { path: [path, ...(issue?.path ?? [])].map(String).join('.'), msg: issue?.message ?? 'not valid' }
}
