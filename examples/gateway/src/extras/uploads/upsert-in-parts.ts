import * as z from 'zod'
import { instantText, isoInstant } from '../../http/instant.ts'
import { success } from '../../http/route.ts'
import { refusalReply } from '../../quota/metering.ts'
import type { UpsertExtension } from '../../scores/bodies.ts'
import type { UploadService } from './upload-service.ts'

/** Handles upserts with a `sessionId`: keeps their scores for the session, and holds their tokens. */
export function upsertInParts(uploads: UploadService, supportForumUrl: string): UpsertExtension {
  return {
    member: 'sessionId',
    body: z
      .uuid('expected the sessionId of an upload session')
      .nullish()
      .describe('For an upload in parts: its scores are kept, but not stored or charged yet.'),
    answer: {
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
    },
    description:
      'With `sessionId`, they are kept for an upload in parts. Their tokens are held, and only charged by `/v1/upsert/check`.',
    errors: ['not_found', 'conflict', 'session_expired'],
    async take(req, userId, id, plays) {
      const added = await uploads.add(userId, id, plays)
      if ('allowed' in added) return refusalReply(req, added, supportForumUrl)
      const { expiresAt, expected, received: receivedMusicCount, tokens: tokensHeld } = added
      const session = { sessionId: id, expiresAt: instantText(expiresAt), expected, receivedMusicCount, tokensHeld }
      return { body: success({ uploadedMusicCount: 0, skippedMusicCount: 0, results: [], session }) }
    },
  }
}
