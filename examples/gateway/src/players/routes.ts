import { success } from '../http/envelope.ts'
import { HttpError } from '../http/http-error.ts'
import { type Route, route } from '../http/route.ts'
import { playerAnswer, playerBody } from './bodies.ts'
import type { PlayerRepository } from './player-repository.ts'

/** Reading a player's own data. */
export function playerRoutes(players: PlayerRepository): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/user/data',
      docs: {
        id: 'readUser',
        tag: 'User',
        summary: "Read the user's own data",
        description: 'Name, rating and how often the player played.',
        errors: ['not_found'],
      },
      access: 'user',
      body: playerBody,
      answer: playerAnswer,
      operation: 'user.data',
      async handle({ user }) {
        const player = await players.find(user.id)
        // The account went while the request was on its way.
        if (player === undefined) throw new HttpError('not_found', 'There is no such user any more.')
        return { body: success({ ...player, updatedAt: new Date(player.updatedAt).toISOString() }) }
      },
    }),
  ]
}
