import type { Request } from 'express'
import type * as z from 'zod'
import { success } from '../http/envelope.ts'
import { type Reply, type Route, route } from '../http/route.ts'
import {
  clearAnswer,
  clearBody,
  deleteAnswer,
  deleteBody,
  deleteForm,
  listAnswer,
  listBody,
  upsertAnswer,
  upsertBody,
} from './bodies.ts'
import type { ChartedPlay } from './resolve-plays.ts'
import type { Play } from './score.ts'
import type { ScoreService } from './score-service.ts'

/** What an upsert writes, and the session that it is a part of. */
interface Upsert {
  readonly plays: readonly ChartedPlay[]
  readonly sessionId: string | null | undefined
}

/** Adds plays to an upload session of a user, as the answer to a request. */
export type AddPart = (
  req: Request,
  userId: string,
  sessionId: string,
  plays: readonly Play[],
) => Promise<Reply<z.output<typeof upsertAnswer>>>

/** Writing, deleting, reading and clearing scores. */
export function scoreRoutes(service: ScoreService, addPart: AddPart): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/music/upsert',
      docs: {
        id: 'upsertMusic',
        tag: 'Score',
        summary: 'Write or overwrite scores',
        description:
          'Writes 1 to 20 scores over existing ones, all of them or none. A chart must not be in the list twice. With `sessionId` they are kept for an upload in parts: their tokens are held, and charged only by `/v1/upsert/check`.',
        operations: ['music.upsert'],
        example: {
          musicList: [{ musicId: 10106, level: 3, achievement: 100.5, dxScore: 2871, comboStatus: 'fc' }],
        },
        errors: ['unknown_chart', 'dx_score_too_high', 'not_found', 'conflict', 'session_expired'],
      },
      access: 'user',
      body: upsertBody,
      answer: upsertAnswer,
      chargesWithin: true,
      // An upload in parts calls the quota itself.
      operation: ({ sessionId }: Upsert) => (typeof sessionId === 'string' ? undefined : 'music.upsert'),
      async prepare(body): Promise<Upsert> {
        return { plays: await service.resolve(body), sessionId: body.sessionId }
      },
      async handle({ req, user, input: { plays, sessionId }, charge }) {
        if (typeof sessionId === 'string') {
          return addPart(
            req,
            user.id,
            sessionId,
            plays.map(({ play }) => play),
          )
        }
        const results = await service.upsert(user.id, plays, charge)
        const skippedMusicCount = results.filter(({ status }) => status === 'unchanged').length
        return { body: success({ uploadedMusicCount: results.length - skippedMusicCount, skippedMusicCount, results }) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/music/delete',
      docs: {
        id: 'deleteMusic',
        tag: 'Score',
        summary: 'Delete scores',
        description: 'Deletes the scores of 1 to 20 charts; one chart may be given without the list.',
        errors: ['score_not_found'],
        example: { musicId: 101, level: 3 },
        bodyForm: deleteForm,
      },
      access: 'user',
      body: deleteBody,
      answer: deleteAnswer,
      operation: 'music.delete',
      chargesWithin: true,
      async handle({ user, input, charge }) {
        const results = await service.remove(user.id, input.musicList, charge)
        const deletedMusicCount = results.filter(({ status }) => status === 'deleted').length
        return { body: success({ deletedMusicCount, results }) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/user/music',
      docs: {
        id: 'readMusic',
        tag: 'Score',
        summary: 'Read all scores',
        description: "All of the caller's scores, with what their charts add. It writes nothing.",
      },
      access: 'user',
      body: listBody,
      answer: listAnswer,
      operation: 'user.music',
      async handle({ user }) {
        const scores = await service.all(user.id)
        const userMusicDetailList = scores.map((score) => ({ ...score, deluxscoreMax: score.dxScoreMax }))
        return { body: success({ length: scores.length, userMusicDetailList }) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/user/clear',
      docs: {
        id: 'clearMusic',
        tag: 'Score',
        summary: 'Delete all scores',
        description: "Deletes all of the caller's scores for good.",
        example: { confirm: true },
      },
      access: 'user',
      body: clearBody,
      answer: clearAnswer,
      operation: 'user.clear',
      chargesWithin: true,
      async handle({ user, charge }) {
        return { body: success({ clearedCount: await service.clear(user.id, charge) }) }
      },
    }),
  ]
}
