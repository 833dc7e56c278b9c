import { success } from '../http/envelope.ts'
import { type Route, route } from '../http/route.ts'
import { itemsAnswer, itemsBody } from './bodies.ts'
import type { ItemRepository } from './item-repository.ts'

/** Reading items. */
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
