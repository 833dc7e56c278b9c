import { type Reply, type Route, route, success } from '../http/route.ts'
import {
  clearAnswer,
  clearBody,
  deleteAnswer,
  deleteBody,
  deleteForm,
  extendedUpsert,
  listAnswer,
  listBody,
  type UpsertAnswer,
  type UpsertExtension,
  upsertAnswer,
  upsertBody,
} from './bodies.ts'
import type { ChartedPlay } from './resolve-plays.ts'
import type { ScoreService } from './score-service.ts'

/** An upsert's scores, and the member for an extra. */
interface Upsert {
  readonly plays: readonly ChartedPlay[]
  readonly taken: string | undefined
}

/** Writing, deleting, reading and clearing scores. */
export function scoreRoutes(service: ScoreService, extension?: UpsertExtension): Route[] {
  const { body, answer } =
    extension === undefined ? { body: upsertBody, answer: upsertAnswer } : extendedUpsert(extension)
  return [
    route({
      method: 'post',
      path: '/v1/music/upsert',
      docs: {
        id: 'upsertMusic',
        tag: 'Score',
        summary: 'Write or overwrite scores',
        description: [
          'Writes 1 to 20 scores over existing ones, all or none. The list must not contain a chart twice.',
          extension?.description,
        ]
          .join(' ')
          .trimEnd(),
        operations: ['music.upsert'],
        example: {
          musicList: [{ musicId: 10106, level: 3, achievement: 100.5, dxScore: 2871, comboStatus: 'fc' }],
        },
        errors: ['unknown_chart', 'dx_score_too_high', ...(extension?.errors ?? [])],
      },
      access: 'user',
      body,
      answer,
      chargesWithin: true,
      operation: ({ taken }: Upsert) => (taken === undefined ? 'music.upsert' : undefined),
      async prepare(sent): Promise<Upsert> {
        const value = extension && (sent as Readonly<Record<string, unknown>>)[extension.member]
        return { plays: await service.resolve(sent), taken: typeof value === 'string' ? value : undefined }
      },
      async handle({ req, user, input: { plays, taken }, charge }): Promise<Reply<UpsertAnswer>> {
        if (extension !== undefined && taken !== undefined) {
          const written = plays.map(({ play }) => play)
          return (await extension.take(req, user.id, taken, written)) as Reply<UpsertAnswer>
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
        description: 'Deletes the scores of 1 to 20 charts. For one chart, you can omit the list.',
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
        description: 'All of your scores, with facts of their charts. Writes nothing.',
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
        description: 'Deletes all of your scores permanently.',
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
