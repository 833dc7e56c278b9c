import { instantText } from '../http/instant.ts'
import { success } from '../http/route.ts'
import { refusalReply } from '../quota/metered.ts'
import type { KeepPart } from '../scores/routes.ts'
import type { UploadService } from './upload-service.ts'

/** Handles upserts with a `sessionId`: keeps their scores for the session, and holds their tokens. */
export function upsertInParts(uploads: UploadService, supportForumUrl: string): KeepPart {
  return async (req, userId, sessionId, plays) => {
    const added = await uploads.add(userId, sessionId, plays)
    if ('allowed' in added) return refusalReply(req, added, supportForumUrl)
    const { expiresAt, expected, received: receivedMusicCount, tokens: tokensHeld } = added
    const session = { sessionId, expiresAt: instantText(expiresAt), expected, receivedMusicCount, tokensHeld }
    return { body: success({ uploadedMusicCount: 0, skippedMusicCount: 0, results: [], session }) }
  }
}
