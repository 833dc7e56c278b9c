import { type Gate, untouchedGate } from '../gates/gate.ts'
import type { GateRepository } from '../gates/gate-repository.ts'
import type { Item } from '../items/item.ts'
import type { ItemRepository } from '../items/item-repository.ts'

const ITEMS: readonly Item[] = [
  { itemKind: 1, itemId: 101, stock: 1, isValid: true },
  { itemKind: 2, itemId: 2_001, stock: 1, isValid: true },
  { itemKind: 3, itemId: 301, stock: 1, isValid: true },
  { itemKind: 9, itemId: 7, stock: 3, isValid: true },
  { itemKind: 11, itemId: 12, stock: 1, isValid: false },
  { itemKind: 15, itemId: 1, stock: 2, isValid: true },
]

const AT = Date.UTC(2026, 6, 1, 12)

const GATES: readonly Gate[] = [
  {
    gateId: 1,
    isGateFound: true,
    isKeyFound: true,
    isClear: true,
    totalRestLife: 412,
    totalAchievement: 2_995_120,
    totalDeluxscore: 4_318,
    bestAchievement: 1_001_250,
    bestDeluxscore: 1_502,
    bestAchievementAt: AT,
    bestDeluxscoreAt: AT,
    playCount: 3,
    clearAt: AT,
    lastPlayAt: AT,
    isInfoWatched: true,
  },
  { ...untouchedGate(2), isGateFound: true },
]

/** Gives a player a few items and gates to look at. */
export async function seedPossessions(
  userId: string,
  { items, gates }: { readonly items: ItemRepository; readonly gates: GateRepository },
): Promise<void> {
  await items.putAll(userId, ITEMS)
  await gates.putAll(userId, GATES)
}
