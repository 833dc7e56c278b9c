import * as z from 'zod'
import { chartText, LEVELS } from '../charts/chart.ts'
import { envelope } from '../http/envelope.ts'
import { MAX_ACHIEVEMENT, parseAchievement } from './achievement.ts'
import { LEVEL, MUSIC_ID, scoreSchema } from './score.ts'
import { comboStatusSchema, syncStatusSchema } from './statuses.ts'
import type { UpsertExtension } from './upsert-extension.ts'

/** Most entries of one list. */
const MAX_LIST = 20

/** Largest whole number of a database column. */
const MAX_INTEGER = 2 ** 31 - 1

const musicId = z.int('expected a whole number').min(1).max(MAX_INTEGER).describe(MUSIC_ID)
const level = z.literal(LEVELS, { error: `expected one of ${LEVELS.join(', ')}` }).describe(LEVEL)

const ACHIEVEMENT_ERROR = `expected a percentage from 0 to 101, or percent x 10000 as a whole number above 10000 and at most ${MAX_ACHIEVEMENT}`
const achievement = z
  .union([z.number(), z.string()], { error: ACHIEVEMENT_ERROR })
  .transform((value, context) => {
    const parsed = parseAchievement(value)
    if (parsed !== undefined) return parsed
    context.addIssue({ code: 'custom', message: ACHIEVEMENT_ERROR })
    return z.NEVER
  })
  .describe(
    'A percentage from 0 to 101 (`100.5`), or percent x 10000 as a whole number above 10000 (`1005000`); either as a number or as text.',
  )

/** A list of charts in which none is there twice. */
function listOf<T extends z.ZodType<{ musicId: number; level: number }>>(entry: T): z.ZodArray<T> {
  return z
    .array(entry, { error: 'expected a list' })
    .min(1, 'expected 1 entry at least')
    .max(MAX_LIST, `expected ${MAX_LIST} entries at most`)
    .superRefine((entries, context) => {
      const first = new Map<string, number>()
      for (const [index, key] of entries.entries()) {
        const text = chartText(key)
        const earlier = first.get(text)
        if (earlier === undefined) first.set(text, index)
        else context.addIssue({ code: 'custom', path: [index], message: `the same chart as entry ${earlier}` })
      }
    })
}

export const upsertBody = z.object({
  musicList: listOf(
    z.object({
      musicId,
      level,
      achievement,
      dxScore: z
        .int('expected a whole number')
        .min(0)
        .max(MAX_INTEGER)
        .describe('The DX score itself; with `fuzzy` a number of stars, 0 to 5, for the least such score.'),
      comboStatus: comboStatusSchema.default(0),
      syncStatus: syncStatusSchema.default(0),
      fuzzy: z.boolean().default(false).describe('Whether `dxScore` counts stars.'),
    }),
  ),
})
export type UpsertBody = z.output<typeof upsertBody>

const pair = z.object({ musicId, level })

/** The two forms of {@link deleteBody}. */
export const deleteForm = z.union([z.object({ musicList: listOf(pair) }), pair])

/** A list, or one bare pair. */
export const deleteBody = z.preprocess(
  (body) =>
    typeof body === 'object' && body !== null && 'musicId' in body && !('musicList' in body)
      ? { musicList: [body], ...body }
      : body,
  z.object({ musicList: listOf(pair) }),
)

export const listBody = z.object({})

export const clearBody = z.object({
  confirm: z.literal(true, { error: 'expected true: this deletes every score of the account' }),
})

export const upsertAnswer = envelope(
  z.object({
    uploadedMusicCount: z.int().describe('Scores that were created or updated.'),
    skippedMusicCount: z.int().describe('Scores that were there already, just so.'),
    results: z.array(
      z.object({
        musicId: z.int(),
        level: z.int(),
        status: z.enum(['created', 'updated', 'unchanged']),
        score: scoreSchema,
      }),
    ),
  }),
)
export type UpsertAnswer = z.output<typeof upsertAnswer>

/** The two of an upsert that an extra extends. Its member comes first, as in the reference. */
export function extendedUpsert({ member, body, answer }: UpsertExtension): {
  body: typeof upsertBody
  answer: typeof upsertAnswer
} {
  const { businessData } = upsertAnswer.shape
  const extended = z.object({ [member]: body, ...upsertBody.shape })
  const answered = envelope(businessData.extend(answer))
  return { body: extended as unknown as typeof upsertBody, answer: answered as unknown as typeof upsertAnswer }
}

export const deleteAnswer = envelope(
  z.object({
    deletedMusicCount: z.int().describe('Scores that are gone now.'),
    results: z.array(z.object({ musicId: z.int(), level: z.int(), status: z.enum(['deleted', 'not_found']) })),
  }),
)

export const clearAnswer = envelope(z.object({ clearedCount: z.int() }))

export const listAnswer = envelope(
  z.object({
    length: z.int().describe('Length of the list.'),
    userMusicDetailList: z.array(
      scoreSchema.extend({ deluxscoreMax: z.int().nullable().describe('The same as `dxScoreMax`.') }),
    ),
  }),
)
