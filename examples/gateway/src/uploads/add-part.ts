import type { Request } from 'express'
import type * as z from 'zod'
import { success } from '../http/envelope.ts'
import { instantText } from '../http/instant.ts'
import type { Reply } from '../http/route.ts'
import { refusalReply } from '../quota/refusal-reply.ts'
import type { upsertAnswer } from '../scores/bodies.ts'
import type { Play } from '../scores/score.ts'
import type { UploadService } from './upload-service.ts'

type UpsertReply = Reply<z.output<typeof upsertAnswer>>

/** Adds plays to an upload session of a user, as the answer to a request. */
export type AddPart = (req: Request, userId: string, sessionId: string, plays: readonly Play[]) => Promise<UpsertReply>

export function addPart(uploads: UploadService, supportForumUrl: string): AddPart {
  return async (req, userId, id, plays) => {
    const added = await uploads.add(userId, id, plays)
    if ('allowed' in added) return refusalReply(req, added, supportForumUrl)
    const { expiresAt, expected, received: receivedMusicCount, tokens: tokensHeld } = added
    const session = { sessionId: id, expiresAt: instantText(expiresAt), expected, receivedMusicCount, tokensHeld }
    return { body: success({ uploadedMusicCount: 0, skippedMusicCount: 0, results: [], session }) }
  }
}
