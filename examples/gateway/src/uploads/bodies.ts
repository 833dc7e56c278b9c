import * as z from 'zod'
import { instantText, isoInstant } from '../http/instant.ts'
import { envelope } from '../http/route.ts'
import { MOST_SCORES, type Upload } from './upload.ts'
import type { CheckedUpload } from './upload-service.ts'

const EXPECTED_ERROR = `expected a whole number from 1 to ${MOST_SCORES}`

const sessionId = z
  .uuid('expected the sessionId of an upload session')
  .describe('The id from `POST /v1/upsert/session`.')

export const createBody = z.object({
  expected: z
    .int(EXPECTED_ERROR)
    .min(1, EXPECTED_ERROR)
    .max(MOST_SCORES, EXPECTED_ERROR)
    .nullish()
    .describe('How many scores you will send. Absent: the check ends the upload.'),
})

export const createAnswer = envelope(
  z.object({ sessionId: z.uuid(), expiresAt: isoInstant, expected: z.int().nullable() }),
)

export const checkBody = z.object({ sessionId })

export const checkQuery = z.object({
  sync: z.enum(['0', '1'], 'expected 0 or 1').default('0').describe('`1`: respond when it is done.'),
})

const count = z.int().min(0)

export const checkAnswer = envelope(
  z.object({
    sessionId: z.uuid(),
    status: z
      .enum(['open', 'storing', 'done'])
      .describe('`open`: not complete; `storing`: check again; `done`: stored and charged.'),
    expiresAt: isoInstant.nullable().describe("When an open session expires; `null`: it doesn't."),
    expected: z.int().nullable(),
    receivedMusicCount: count.describe('Scores received, of different charts.'),
    uploadedMusicCount: count.nullable().describe('Scores that were created or updated; `null`: not known yet.'),
    skippedMusicCount: count.nullable().describe('Scores that already existed and are equal.'),
    tokensCharged: count.nullable().describe('The charge for all scores; `null`: not charged yet.'),
  }),
)

export function createdShown({ id, expiresAt, expected }: Upload): z.output<typeof createAnswer>['businessData'] {
  return { sessionId: id, expiresAt: instantText(expiresAt), expected }
}

function statusOf(isOpen: boolean, state: Upload['state']): 'open' | 'storing' | 'done' {
  if (isOpen) return 'open'
  return state === 'done' ? 'done' : 'storing'
}

export function checkedShown(upload: CheckedUpload): z.output<typeof checkAnswer>['businessData'] {
  const { id, state, isStoring, expiresAt, expected, received, uploaded, skipped, charged } = upload
  const isOpen = state === 'open' && !isStoring
  return {
    sessionId: id,
    status: statusOf(isOpen, state),
    expiresAt: isOpen ? instantText(expiresAt) : null,
    expected,
    receivedMusicCount: received,
    uploadedMusicCount: uploaded,
    skippedMusicCount: skipped,
    tokensCharged: charged,
  }
}
