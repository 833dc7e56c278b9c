import { success } from '../http/envelope.ts'
import { instantText } from '../http/instant.ts'
import { refusalReply } from '../quota/refusal-reply.ts'
import type { AddPart } from '../scores/routes.ts'
import type { UploadService } from './upload-service.ts'

export function addPart(uploads: UploadService, supportForumUrl: string): AddPart {
  return async (req, userId, id, plays) => {
    const added = await uploads.add(userId, id, plays)
    if ('allowed' in added) return refusalReply(req, added, supportForumUrl)
    const { expiresAt, expected, received: receivedMusicCount, tokens: tokensHeld } = added
    const session = { sessionId: id, expiresAt: instantText(expiresAt), expected, receivedMusicCount, tokensHeld }
    return { body: success({ uploadedMusicCount: 0, skippedMusicCount: 0, results: [], session }) }
  }
}
