import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { Db } from '../db/schema.ts'
import { withPlayer } from '../db/with-player.ts'
import { envelope, type Route, success, userRoute } from '../http/route.ts'

/** 1 plate, 2 title, 3 icon, 4 present, 5 to 8 music unlocks, 9 character, 10 partner, 11 frame, 12 ticket, 15 key. */
const ITEM_KINDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15] as const

const item = z.object({ itemKind: z.literal(ITEM_KINDS), itemId: z.int(), stock: z.int(), isValid: z.boolean() })
export const itemsAnswer = envelope(z.object({ length: z.int(), userItemList: z.array(item) }))

/** Something that a player owns. */
export type Item = Readonly<z.output<typeof item>>

/** The route to read items. */
export function itemRoutes(db: Db): Route[] {
  return [
    userRoute('POST /v1/user/item-list', {
      id: 'readItems',
      tag: 'User',
      summary: 'List all items',
      description:
        'Kinds: 1 plate, 2 title, 3 icon, 4 present, 5 to 8 music unlocks, 9 character, 10 partner, 11 frame, 12 ticket, 15 key.',
      body: z.object({}),
      answer: itemsAnswer,
      operation: 'user.items',
      async handle({ user }) {
        const rows = await db
          .selectFrom('items')
          .selectAll()
          .where('user_id', '=', user.id)
          .orderBy('item_kind')
          .orderBy('item_id')
          .execute()
        const userItemList = rows.map((row) => ({
          itemKind: row.item_kind as Item['itemKind'],
          itemId: row.item_id,
          stock: row.stock,
          isValid: row.is_valid === 1,
        }))
        return { body: success({ length: rows.length, userItemList }) }
      },
    }),
  ]
}

/** Stores a few different items over existing ones, all or none. */
export async function putItems(db: Db, clock: Clock, userId: string, items: readonly Item[]): Promise<void> {
  const rows = items.map(({ itemKind, itemId, stock, isValid }) => {
    return { user_id: userId, item_kind: itemKind, item_id: itemId, stock, is_valid: isValid ? 1 : 0 } as const
  })
  await withPlayer(db, clock, userId, async (player) => {
    await player.db
      .insertInto('items')
      .values(rows)
      .onConflict((conflict) =>
        conflict
          .columns(['user_id', 'item_kind', 'item_id'])
          .doUpdateSet(({ ref }) => ({ stock: ref('excluded.stock'), is_valid: ref('excluded.is_valid') })),
      )
      .execute()
    await player.markChanged()
  })
}
