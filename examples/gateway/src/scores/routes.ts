import type { Request } from 'express'
import { type Reply, type Route, success, userRoute } from '../http/route.ts'
import {
  clearAnswer,
  clearBody,
  deleteAnswer,
  deleteBody,
  deleteForm,
  listAnswer,
  listBody,
  type UpsertAnswer,
  upsertAnswer,
  upsertBody,
} from './bodies.ts'
import type { Play } from './score.ts'
import type { ChartedPlay, ScoreService } from './score-service.ts'

/** An upsert's scores. With a session, they are a part of an upload. */
interface Upsert {
  readonly plays: readonly ChartedPlay[]
  readonly sessionId: string | undefined
}

/** Keeps the scores of an upload in parts. Nothing was charged: it holds their tokens itself. */
export type KeepPart = (
  req: Request,
  userId: string,
  sessionId: string,
  plays: readonly Play[],
) => Promise<Reply<UpsertAnswer>>

/** Writing, deleting, reading and clearing scores. */
export function scoreRoutes(service: ScoreService, keepPart: KeepPart): Route[] {
  return [
    userRoute('POST /v1/music/upsert', {
      id: 'upsertMusic',
      tag: 'Score',
      summary: 'Write or overwrite scores',
      description:
        'Writes 1 to 20 scores over existing ones, all or none. The list must not contain a chart twice. With `sessionId`, they are kept for an upload in parts. Their tokens are held, and only charged by `/v1/upsert/check`.',
      operations: ['music.upsert'],
      example: {
        musicList: [{ musicId: 10106, level: 3, achievement: 100.5, dxScore: 2871, comboStatus: 'fc' }],
      },
      errors: ['unknown_chart', 'dx_score_too_high', 'not_found', 'conflict', 'session_expired'],
      body: upsertBody,
      answer: upsertAnswer,
      chargesInTransaction: true,
      operation: ({ sessionId }: Upsert) => (sessionId === undefined ? 'music.upsert' : undefined),
      async prepare(sent): Promise<Upsert> {
        return { plays: await service.resolve(sent), sessionId: sent.sessionId ?? undefined }
      },
      async handle({ req, user, input: { plays, sessionId }, charge }): Promise<Reply<UpsertAnswer>> {
        if (sessionId !== undefined) {
          const written = plays.map(({ play }) => play)
          return keepPart(req, user.id, sessionId, written)
        }
        const results = await service.upsert(user.id, plays, charge)
        const skippedMusicCount = results.filter(({ status }) => status === 'unchanged').length
        return { body: success({ uploadedMusicCount: results.length - skippedMusicCount, skippedMusicCount, results }) }
      },
    }),
    userRoute('POST /v1/music/delete', {
      id: 'deleteMusic',
      tag: 'Score',
      summary: 'Delete scores',
      description: 'Deletes the scores of 1 to 20 charts. For one chart, you can omit the list.',
      errors: ['score_not_found'],
      example: { musicId: 101, level: 3 },
      bodyForm: deleteForm,
      body: deleteBody,
      answer: deleteAnswer,
      operation: 'music.delete',
      chargesInTransaction: true,
      async handle({ user, input, charge }) {
        const results = await service.remove(user.id, input.musicList, charge)
        const deletedMusicCount = results.filter(({ status }) => status === 'deleted').length
        return { body: success({ deletedMusicCount, results }) }
      },
    }),
    userRoute('POST /v1/user/music', {
      id: 'readMusic',
      tag: 'Score',
      summary: 'Read all scores',
      description: 'All of your scores, with facts of their charts. Writes nothing.',
      body: listBody,
      answer: listAnswer,
      operation: 'user.music',
      async handle({ user }) {
        const scores = await service.all(user.id)
        const userMusicDetailList = scores.map((score) => ({ ...score, deluxscoreMax: score.dxScoreMax }))
        return { body: success({ length: scores.length, userMusicDetailList }) }
      },
    }),
    userRoute('POST /v1/user/clear', {
      id: 'clearMusic',
      tag: 'Score',
      summary: 'Delete all scores',
      description: 'Deletes all of your scores permanently.',
      example: { confirm: true },
      body: clearBody,
      answer: clearAnswer,
      operation: 'user.clear',
      chargesInTransaction: true,
      async handle({ user, charge }) {
        return { body: success({ clearedCount: await service.clear(user.id, charge) }) }
      },
    }),
  ]
}
