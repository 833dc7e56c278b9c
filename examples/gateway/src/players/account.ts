import * as z from 'zod'
import type { Db } from '../db/schema.ts'
import { HttpError } from '../http/http-error.ts'
import { envelope, type Route, success, userRoute } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'

export const playerAnswer = envelope(
  z.object({
    userId: z.string(),
    userName: z.string(),
    playerRating: z.int(),
    playCount: z.int(),
    updatedAt: isoInstant.describe('When this data or a score last changed.'),
  }),
)

/** The part that other clients may see. */
const previewAnswer = envelope(
  z.object({
    userId: z.string(),
    userName: z.string(),
    playerRating: z.int(),
    isLogin: z.literal(false).describe('Always false: no one plays through this service.'),
    lastPlayDate: isoInstant.nullable().describe('According to scores with a known time; `null`: unknown.'),
  }),
)

const regionAnswer = envelope(
  z.object({
    length: z.int().describe('Length of the list.'),
    userRegionList: z.array(z.object({ regionId: z.int(), playCount: z.int(), created: isoInstant })),
  }),
)

/** Routes to read a player's account data. */
export function accountRoutes(db: Db): Route[] {
  return [
    userRoute('POST /v1/user/data', {
      id: 'readUser',
      tag: 'User',
      summary: 'Read your account data',
      description: 'Name, rating and number of plays.',
      errors: ['not_found'],
      body: z.object({}),
      answer: playerAnswer,
      operation: 'user.data',
      async handle({ user }) {
        const { id, name, ...row } = await found(db, user.id)
        const { player_rating: playerRating, play_count: playCount } = row
        const updatedAt = instantText(row.data_changed_at ?? row.created_at)
        return { body: success({ userId: id, userName: name, playerRating, playCount, updatedAt }) }
      },
    }),
    userRoute('POST /v1/user/preview', {
      id: 'previewUser',
      tag: 'User',
      summary: 'Read your public data',
      description: 'Name, rating, and when you last played.',
      errors: ['not_found'],
      body: z.object({}),
      answer: previewAnswer,
      operation: 'user.data',
      async handle({ user }) {
        const { id, name, player_rating: playerRating } = await found(db, user.id)
        const { at } = await db
          .selectFrom('scores')
          .select(({ fn }) => fn.max('played_at').as('at'))
          .where('owner', '=', id)
          .executeTakeFirstOrThrow()
        const lastPlayDate = at === null ? null : instantText(at)
        return { body: success({ userId: id, userName: name, playerRating, isLogin: false as const, lastPlayDate }) }
      },
    }),
    userRoute('POST /v1/user/region', {
      id: 'listRegions',
      tag: 'User',
      summary: 'List the regions you played in',
      description: 'Regions are unknown, so the list is empty.',
      body: z.object({}),
      answer: regionAnswer,
      operation: 'user.data',
      handle: () => ({ body: success({ length: 0, userRegionList: [] }) }),
    }),
  ]
}

/** @throws {HttpError} `not_found` if the account was deleted while the request was in flight */
async function found(db: Db, userId: string) {
  const row = await db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirst()
  if (row === undefined) throw new HttpError('not_found', 'This user no longer exists.')
  return row
}
