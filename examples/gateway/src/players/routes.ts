import * as z from 'zod'
import { HttpError } from '../http/http-error.ts'
import { isoInstant } from '../http/instant.ts'
import { envelope, type Route, route, success } from '../http/route.ts'
import type { PlayerData, PlayerRepository } from './player-repository.ts'

const playerBody = z.object({})

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

export const playerAnswer = envelope(
  z.object({
    userId: z.string(),
    userName: z.string(),
    playerRating: z.int(),
    playCount: z.int(),
    /** When this data or a score last changed. */
    updatedAt: isoInstant,
  }),
)

/** Routes to read a player's account data. */
export function playerRoutes(players: PlayerRepository): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/user/data',
      docs: {
        id: 'readUser',
        tag: 'User',
        summary: 'Read your account data',
        description: 'Name, rating and number of plays.',
        errors: ['not_found'],
      },
      access: 'user',
      body: playerBody,
      answer: playerAnswer,
      operation: 'user.data',
      async handle({ user }) {
        const player = await found(players, user.id)
        return { body: success({ ...player, updatedAt: new Date(player.updatedAt).toISOString() }) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/user/preview',
      docs: {
        id: 'previewUser',
        tag: 'User',
        summary: 'Read your public data',
        description: 'Name, rating, and when you last played.',
        errors: ['not_found'],
      },
      access: 'user',
      body: playerBody,
      answer: previewAnswer,
      operation: 'user.data',
      async handle({ user }) {
        const { userId, userName, playerRating } = await found(players, user.id)
        const playedAt = await players.lastPlayedAt(userId)
        const lastPlayDate = playedAt === null ? null : new Date(playedAt).toISOString()
        return { body: success({ userId, userName, playerRating, isLogin: false as const, lastPlayDate }) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/user/region',
      docs: {
        id: 'listRegions',
        tag: 'User',
        summary: 'List the regions you played in',
        description: 'Regions are unknown, so the list is empty.',
      },
      access: 'user',
      body: playerBody,
      answer: regionAnswer,
      operation: 'user.data',
      async handle() {
        return { body: success({ length: 0, userRegionList: [] }) }
      },
    }),
  ]
}

async function found(players: PlayerRepository, userId: string): Promise<PlayerData> {
  const player = await players.find(userId)
  // The account was deleted while the request was in flight.
  if (player === undefined) throw new HttpError('not_found', 'This user no longer exists.')
  return player
}
