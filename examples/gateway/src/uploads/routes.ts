import { instantText } from '../http/instant.ts'
import { type Route, route, success } from '../http/route.ts'
import { refusalReply } from '../quota/metered.ts'
import type { KeepPart } from '../scores/routes.ts'
import { checkAnswer, checkBody, checkedShown, checkQuery, createAnswer, createBody, createdShown } from './bodies.ts'
import type { UploadService } from './upload-service.ts'

/** Routes to start and finish an upload. The parts are sent to `POST /v1/music/upsert`. */
export function uploadRoutes(uploads: UploadService): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/upsert/session',
      docs: {
        id: 'createUploadSession',
        tag: 'Score',
        summary: 'Start an upload in parts',
        description:
          'Send up to 2,000 scores to `/v1/music/upsert` with its `sessionId`, then call `/v1/upsert/check`. A session expires after 10 minutes without a call. Nothing is then stored or charged. A user may have 5 open sessions.',
        errors: ['conflict'],
      },
      access: 'user',
      body: createBody,
      answer: createAnswer,
      async handle({ user, input: { expected = null } }) {
        return { body: success(createdShown(await uploads.create(user.id, expected))) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/upsert/check',
      docs: {
        id: 'checkUploadSession',
        tag: 'Score',
        summary: 'Finish an upload in parts',
        description:
          'If all scores have arrived, they are stored, all or none, and charged once: the price of an upsert per 20 scores or part of 20. A repeat gets the same response. An expired session gets 409 `session_expired` immediately, with or without `sync=1`.',
        errors: ['not_found', 'conflict', 'session_expired'],
        example: { sessionId: '3b17827f-ce92-497f-8624-a8eb28cc72b4' },
      },
      access: 'user',
      query: checkQuery,
      body: checkBody,
      answer: checkAnswer,
      async handle({ user, input: { sessionId }, query: { sync } }) {
        return { body: success(checkedShown(await uploads.check(user.id, sessionId, sync === '1'))) }
      },
    }),
  ]
}

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
