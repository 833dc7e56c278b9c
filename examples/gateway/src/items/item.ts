/** 1 plate, 2 title, 3 icon, 4 present, 5 to 8 music unlocks, 9 character, 10 partner, 11 frame, 12 ticket, 15 key. */
export const ITEM_KINDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15] as const
export type ItemKind = (typeof ITEM_KINDS)[number]

/** Something a player owns. */
export interface Item {
  readonly itemKind: ItemKind
  readonly itemId: number
  readonly stock: number
  readonly isValid: boolean
}
