import type { Clock } from '@scoregw/quota'
import type { Db } from '../db/schema.ts'
import { withPlayer } from '../db/with-player.ts'

/** 1 plate, 2 title, 3 icon, 4 present, 5 to 8 music unlocks, 9 character, 10 partner, 11 frame, 12 ticket, 15 key. */
export const ITEM_KINDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15] as const
type ItemKind = (typeof ITEM_KINDS)[number]

/** Something that a player owns. */
export interface Item {
  readonly itemKind: ItemKind
  readonly itemId: number
  readonly stock: number
  readonly isValid: boolean
}

/** Players' items. */
export class ItemRepository {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Returns all items of a player, by kind and id. */
  async all(userId: string): Promise<Item[]> {
    const rows = await this.#db
      .selectFrom('items')
      .select(['item_kind', 'item_id', 'stock', 'is_valid'])
      .where('user_id', '=', userId)
      .orderBy('item_kind')
      .orderBy('item_id')
      .execute()
    return rows.map(({ item_kind, item_id, stock, is_valid }) => ({
      itemKind: item_kind as ItemKind,
      itemId: item_id,
      stock,
      isValid: is_valid === 1,
    }))
  }

  /** Stores up to a few hundred different items over existing ones, all or none. */
  async putAll(userId: string, items: readonly Item[]): Promise<void> {
    if (items.length === 0) return
    await withPlayer(this.#db, this.#clock, userId, async ({ db, markChanged }) => {
      await db
        .insertInto('items')
        .values(
          items.map(({ itemKind, itemId, stock, isValid }) => ({
            user_id: userId,
            item_kind: itemKind,
            item_id: itemId,
            stock,
            is_valid: isValid ? (1 as const) : (0 as const),
          })),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['user_id', 'item_kind', 'item_id'])
            .doUpdateSet(({ ref }) => ({ stock: ref('excluded.stock'), is_valid: ref('excluded.is_valid') })),
        )
        .execute()
      await markChanged()
    })
  }
}
