import { success } from '../http/envelope.ts'
import { type Route, route } from '../http/route.ts'
import { deleteAnswer, deleteBody, listAnswer, listBody, upsertAnswer, upsertBody } from './bodies.ts'
import type { ScoreService } from './score-service.ts'

/** Writing, deleting and reading scores. */
export function scoreRoutes(service: ScoreService): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/music/upsert',
      access: 'user',
      body: upsertBody,
      answer: upsertAnswer,
      operation: 'music.upsert',
      prepare: (body) => service.resolve(body),
      async handle({ user, input }) {
        const results = await service.upsert(user.id, input)
        const skippedMusicCount = results.filter(({ status }) => status === 'unchanged').length
        return { body: success({ uploadedMusicCount: results.length - skippedMusicCount, skippedMusicCount, results }) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/music/delete',
      access: 'user',
      body: deleteBody,
      answer: deleteAnswer,
      operation: 'music.delete',
      async handle({ user, input }) {
        const results = await service.remove(user.id, input.musicList)
        const deletedMusicCount = results.filter(({ status }) => status === 'deleted').length
        return { body: success({ deletedMusicCount, results }) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/user/music',
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
  ]
}
