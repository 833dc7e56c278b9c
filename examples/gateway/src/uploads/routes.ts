import * as z from 'zod'
import { envelope, type Route, success, userRoute } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import { refusalReply } from '../quota/metered.ts'
import type { KeepPart } from '../scores/routes.ts'
import type { UploadService } from './upload-service.ts'
import { MOST_SCORES, type Upload } from './upload-sessions.ts'

const EXPECTED_ERROR = `expected a whole number from 1 to ${MOST_SCORES}`

const sessionId = z
  .uuid('expected the sessionId of an upload session')
  .describe('The id from `POST /v1/upsert/session`.')

const createBody = z.object({
  expected: z
    .int(EXPECTED_ERROR)
    .min(1, EXPECTED_ERROR)
    .max(MOST_SCORES, EXPECTED_ERROR)
    .nullish()
    .describe('How many scores you will send. Absent: the check ends the upload.'),
})

const createAnswer = envelope(z.object({ sessionId: z.uuid(), expiresAt: isoInstant, expected: z.int().nullable() }))

const checkBody = z.object({ sessionId })

const checkQuery = z.object({
  sync: z.enum(['0', '1'], 'expected 0 or 1').optional().describe('Clients may send it. The response always waits.'),
})

const count = z.int().min(0)

const checkAnswer = envelope(
  z.object({
    sessionId: z.uuid(),
    status: z.enum(['open', 'done']).describe('`open`: not complete; `done`: stored and charged.'),
    expiresAt: isoInstant.nullable().describe("When an open session expires; `null`: it doesn't."),
    expected: z.int().nullable(),
    receivedMusicCount: count.describe('Scores received, of different charts.'),
    uploadedMusicCount: count.nullable().describe('Scores that were created or updated; `null`: not known yet.'),
    skippedMusicCount: count.nullable().describe('Scores that already existed and are equal.'),
    tokensCharged: count.nullable().describe('The charge for all scores; `null`: not charged yet.'),
  }),
)

function shown(upload: Upload): z.output<typeof checkAnswer>['businessData'] {
  const { id, state, expires_at, expected, received, uploaded, skipped, charged } = upload
  return {
    sessionId: id,
    status: state === 'done' ? 'done' : 'open',
    expiresAt: state === 'open' ? instantText(expires_at) : null,
    expected,
    receivedMusicCount: received,
    uploadedMusicCount: uploaded,
    skippedMusicCount: skipped,
    tokensCharged: charged,
  }
}

/** Routes to start and finish an upload. The parts are sent to `POST /v1/music/upsert`. */
export function uploadRoutes(uploads: UploadService): Route[] {
  return [
    userRoute('POST /v1/upsert/session', {
      id: 'createUploadSession',
      tag: 'Score',
      summary: 'Start an upload in parts',
      description:
        'Send up to 2,000 scores to `/v1/music/upsert` with its `sessionId`, then call `/v1/upsert/check`. A session expires after 10 minutes without a call. Nothing is then stored or charged. A user may have 5 open sessions.',
      errors: ['conflict'],
      body: createBody,
      answer: createAnswer,
      async handle({ user, input: { expected = null } }) {
        const { id, expires_at } = await uploads.create(user.id, expected)
        return { body: success({ sessionId: id, expiresAt: instantText(expires_at), expected }) }
      },
    }),
    userRoute('POST /v1/upsert/check', {
      id: 'checkUploadSession',
      tag: 'Score',
      summary: 'Finish an upload in parts',
      description:
        'If all scores have arrived, they are stored, all or none, and charged once: the price of an upsert per 20 scores or part of 20. A repeat gets the same response. An expired session gets 409 `session_expired`.',
      errors: ['not_found', 'conflict', 'session_expired'],
      example: { sessionId: '3b17827f-ce92-497f-8624-a8eb28cc72b4' },
      query: checkQuery,
      body: checkBody,
      answer: checkAnswer,
      async handle({ user, input: { sessionId } }) {
        return { body: success(shown(await uploads.check(user.id, sessionId))) }
      },
    }),
  ]
}

/** Handles upserts with a `sessionId`: keeps their scores for the session, and holds their tokens. */
export function upsertInParts(uploads: UploadService, supportForumUrl: string): KeepPart {
  return async (req, userId, sessionId, plays) => {
    const added = await uploads.add(userId, sessionId, plays)
    if ('allowed' in added) return refusalReply(req, added, supportForumUrl)
    const { expires_at, expected, received: receivedMusicCount, tokens: tokensHeld } = added
    const session = { sessionId, expiresAt: instantText(expires_at), expected, receivedMusicCount, tokensHeld }
    return { body: success({ uploadedMusicCount: 0, skippedMusicCount: 0, results: [], session }) }
  }
}
