import * as z from 'zod'
import { chartText, LEVELS } from '../charts/chart.ts'
import { envelope } from '../http/route.ts'
import { isoInstant } from '../http/schemas.ts'
import { LEVEL, MAX_ACHIEVEMENT, MUSIC_ID, parseAchievement, scoreSchema } from './score.ts'

const COMBO = ['none', 'fc', 'fcp', 'ap', 'app'] as const
const SYNC = ['none', 'fs', 'fsp', 'fsd', 'fsdp', 'sync'] as const
/** The sync statuses from weakest to strongest. Their numbers have another order. */
const SYNC_BY_STRENGTH = ['none', 'sync', 'fs', 'fsp', 'fsd', 'fsdp'] as const
const SYNC_STRENGTHS = SYNC.map((name) => SYNC_BY_STRENGTH.indexOf(name))
/** Other names that clients use. */
const SYNC_ALIASES = { fdx: 'fsd', fdxp: 'fsdp' } as const

/** A status as its name or number; parsed to its number. */
function statusSchema(names: readonly string[], aliases: Readonly<Record<string, string>> = {}): z.ZodType<number> {
  const numbers = new Map<unknown, number>(names.flatMap((name, index) => [[name, index] as const, [index, index]]))
  for (const [alias, name] of Object.entries(aliases)) numbers.set(alias, names.indexOf(name))
  const known = [...names, ...Object.keys(aliases)].join(', ')
  return z
    .union([z.string(), z.number()], { error: `expected 0 to ${names.length - 1} or one of ${known}` })
    .transform((value, context) => {
      const number = numbers.get(value)
      if (number !== undefined) return number
      context.addIssue({ code: 'custom', message: `expected 0 to ${names.length - 1} or one of ${known}` })
      return z.NEVER
    })
    .meta({
      // Client generators fail on types beside values of several types.
      anyOf: undefined,
      enum: [...numbers.keys()],
      description: `A name or its number: ${names.map((name, index) => `${index} ${name}`).join(', ')}.`,
    })
}

export const comboStatusSchema: z.ZodType<number> = statusSchema(COMBO)
export const syncStatusSchema: z.ZodType<number> = statusSchema(SYNC, SYNC_ALIASES)

/** The name of a combo status. */
export function comboName(status: number): string {
  return COMBO[status] ?? 'none'
}

/** The name of a sync status. */
export function syncName(status: number): string {
  return SYNC[status] ?? 'none'
}

/** The rank of a sync status: the greater one is the better play. */
export function syncStrength(status: number): number {
  return SYNC_STRENGTHS[status] ?? 0
}

/** The most entries in a list. */
const MAX_LIST = 20

/** The largest integer of a database column. */
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

/** A list of charts without duplicates. */
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
  sessionId: z
    .uuid('expected the sessionId of an upload session')
    .nullish()
    .describe('For an upload in parts: its scores are kept, but not stored or charged yet.'),
  musicList: listOf(
    z.object({
      musicId,
      level,
      achievement,
      dxScore: z
        .int('expected a whole number')
        .min(0)
        .max(MAX_INTEGER)
        .describe('The DX score. With `fuzzy`, a number of stars, 0 to 5, which means the lowest score with them.'),
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

/** A list, or a single pair. */
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
    skippedMusicCount: z.int().describe('Scores that already existed and are equal.'),
    results: z.array(
      z.object({
        musicId: z.int(),
        level: z.int(),
        status: z.enum(['created', 'updated', 'unchanged']),
        score: scoreSchema,
      }),
    ),
    session: z
      .object({
        sessionId: z.uuid(),
        expiresAt: isoInstant,
        expected: z.int().nullable(),
        receivedMusicCount: z.int().describe('Scores received, of different charts.'),
        tokensHeld: z.int().describe('The charge for all of them.'),
      })
      .optional()
      .describe(
        'Present with `sessionId`: what was received so far. Nothing is stored before `POST /v1/upsert/check`.',
      ),
  }),
)
export type UpsertAnswer = z.output<typeof upsertAnswer>

export const deleteAnswer = envelope(
  z.object({
    deletedMusicCount: z.int().describe('Scores that were deleted.'),
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
