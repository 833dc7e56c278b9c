import * as z from 'zod'
import { isoInstant } from '../http/schemas.ts'
import { MAX_RECORDS } from '../sources/records.ts'

/** The most chunks of a snapshot. */
export const MAX_CHUNKS = 1_000

const LEAST_QQ = 10_000
const MOST_QQ = 999_999_999_999
const QQ_ERROR = `expected a whole number from ${LEAST_QQ} to ${MOST_QQ}`
const qq = z.int(QQ_ERROR).min(LEAST_QQ, QQ_ERROR).max(MOST_QQ, QQ_ERROR)

/** The account in a path or a query. */
export const qqText: z.ZodType<number> = z
  .string(QQ_ERROR)
  .regex(/^\d{5,12}$/, { error: QQ_ERROR, abort: true })
  .transform(Number)
  .refine((value) => value >= LEAST_QQ, QQ_ERROR)

const TEXT_ERROR = 'expected 64 characters at most, none of them a control character'
// Databases cannot store U+0000 or half of a surrogate pair unchanged.
const text = z
  .string(TEXT_ERROR)
  .max(64, TEXT_ERROR)
  .refine((value) => !/[\p{Cc}\p{Cs}]/u.test(value), TEXT_ERROR)
const snapshotId = text.min(1, 'expected 1 character at least')

const RATING_ERROR = 'expected a whole number from 0 to 99999'
const rating = z.int(RATING_ERROR).min(0, RATING_ERROR).max(99_999, RATING_ERROR).nullish()
const COUNT_ERROR = 'expected a whole number from 0 to 1000000000'

const RECORDS_ERROR = `expected a list of ${MAX_RECORDS} records at most`

/** A record as clients see it. Each is checked by itself, so that a bad one doesn't affect the others. */
const recordForm = z
  .object({
    song_id: z.int(),
    level_index: z.int(),
    achievements: z.number(),
    dxScore: z.int(),
    fc: z.string(),
    fs: z.string(),
  })
  .partial()
  .meta({ id: 'SyncRecord', description: 'A record in the form of Diving-Fish. Other members are ignored.' })

const members = {
  qq,
  nickname: z
    .string('expected a text')
    .nullish()
    .transform((name) => (typeof name === 'string' ? cleanNickname(name) : undefined))
    .describe('Cut to 64 characters. Line breaks become spaces.'),
  source: text.nullish(),
  rating: rating.describe("The player's total. Default: the sum of `old_rating` and `new_rating`."),
  old_rating: rating.describe('The part of the best 35 of older versions.'),
  new_rating: rating.describe('The part of the best 15 of the newest version.'),
  play_count: z.int(COUNT_ERROR).min(0, COUNT_ERROR).max(1_000_000_000, COUNT_ERROR).nullish(),
  records: z.array(z.unknown(), RECORDS_ERROR).max(MAX_RECORDS, RECORDS_ERROR),
  full_snapshot: z.boolean('expected true or false').nullish(),
  snapshot_id: snapshotId.nullish(),
  snapshot_final: z.boolean('expected true or false').nullish(),
  chunk_index: z
    .int('expected a whole number')
    .min(0)
    .max(MAX_CHUNKS - 1)
    .nullish(),
  chunk_total: z.int('expected a whole number').min(1).max(MAX_CHUNKS).nullish(),
  checksum: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/i, 'expected sha256: and 64 hexadecimal digits')
    .nullish(),
}

export const syncBody = z.object(members).superRefine((body, context) => {
  const fault = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
  const { chunk_index: index, chunk_total: total } = body
  if (body.full_snapshot === true && typeof body.snapshot_id !== 'string') {
    fault('snapshot_id', 'needed with full_snapshot, the same on every chunk')
  }
  if (typeof index === 'number' && typeof total === 'number' && index >= total) {
    fault('chunk_index', `expected 0 to ${total - 1}, since chunk_total is ${total}`)
  }
})
export type SyncBody = z.output<typeof syncBody>

/** The body as the reference shows it. */
export const syncBodyForm = z.object({ ...members, records: z.array(recordForm).max(MAX_RECORDS) })

export const syncAnswer = z.object({
  status: z.enum(['partial', 'ok']),
  snapshot_id: z.string().nullable(),
  imported: z.int(),
  updated: z.int(),
  skipped: z.int(),
  stored_records: z.int().describe("The player's number of scores."),
  errors: z.array(z.object({ index: z.int(), path: z.string(), msg: z.string() })),
})
export type SyncAnswer = z.output<typeof syncAnswer>

export const snapshotParams = z.object({ snapshotId })
export const snapshotQuery = z.object({ qq: qqText.optional() })

export const snapshotAnswer = z.object({
  snapshot_id: z.string(),
  qq: z.int(),
  status: z.enum(['partial', 'ok', 'expired']),
  full_snapshot: z.boolean(),
  chunk_total: z.int().nullable(),
  chunks: z.array(z.object({ chunk_index: z.int().nullable(), checksum: z.string() })),
  missing: z.array(z.int()),
  /** When it expires or expired; `null` once it is finished. */
  expires_at: isoInstant.nullable(),
})

/** How many characters of a name are kept. */
const MOST = 64
/** Anything longer is cut before it is examined. */
const MOST_READ = 4_096

/**
 * Makes a name that can be stored and shown: one line, cut, without characters that databases reject. A faulty name
 * must not cost the scores that come with it.
 *
 * @returns `undefined` if nothing is left
 */
export function cleanNickname(text: string): string | undefined {
  const clean = text
    .slice(0, MOST_READ)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029\ufffd]+/gu, ' ')
    .trim()
  const cut = [...clean].slice(0, MOST).join('').trim()
  return cut === '' ? undefined : cut
}
