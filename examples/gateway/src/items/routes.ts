import * as z from 'zod'
import { envelope, type Route, route, success } from '../http/route.ts'
import { ITEM_KINDS, type ItemRepository } from './item-repository.ts'

const itemsBody = z.object({})

export const itemsAnswer = envelope(
  z.object({
    length: z.int(),
    userItemList: z.array(
      z.object({ itemKind: z.literal(ITEM_KINDS), itemId: z.int(), stock: z.int(), isValid: z.boolean() }),
    ),
  }),
)

/** Routes to read items. */
export function itemRoutes(items: ItemRepository): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/user/item-list',
      docs: {
        id: 'readItems',
        tag: 'User',
        summary: 'List all items',
        description:
          'Kinds: 1 plate, 2 title, 3 icon, 4 present, 5 to 8 music unlocks, 9 character, 10 partner, 11 frame, 12 ticket, 15 key.',
      },
      access: 'user',
      body: itemsBody,
      answer: itemsAnswer,
      operation: 'user.items',
      async handle({ user }) {
        const userItemList = await items.all(user.id)
        return { body: success({ length: userItemList.length, userItemList }) }
      },
    }),
  ]
}
