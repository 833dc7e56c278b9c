import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it } from 'vitest'
import type { Db } from '../../src/db/schema.ts'
import { type Gate, GateRepository, untouchedGate } from '../../src/gates/gate-repository.ts'
import { type Item, ItemRepository } from '../../src/items/item-repository.ts'
import { PlayerRepository } from '../../src/players/player-repository.ts'
import type { StoredScore } from '../../src/scores/score.ts'
import { ScoreRepository } from '../../src/scores/score-repository.ts'
import { TICKET_VALID_MS, TicketRepository } from '../../src/tickets/ticket-repository.ts'
import { TicketService } from '../../src/tickets/ticket-service.ts'
import { START } from './gateway.ts'
import { createPlayers, type OpenDatabase } from './test-database.ts'

const score = (musicId: number, updatedAt: number): StoredScore => ({
  musicId,
  level: 3,
  achievement: 1_000_000,
  dxScore: 1,
  dxScoreSource: 'exact',
  comboStatus: 0,
  syncStatus: 0,
  playCount: null,
  source: 'api',
  playedAt: null,
  updatedAt,
})

export function describePlayerRepository(name: string, open: OpenDatabase): void {
  describe(`players' data in ${name}`, () => {
    it('the last change of data and scores is known, and unchanged writes don’t move it', async () => {
      const clock = manualClock(START)
      const db = await (await open()).connect()
      await createPlayers(db, clock, 'ann', 'bob')
      const players = new PlayerRepository(db)
      const scores = new ScoreRepository(db, clock)
      const items = new ItemRepository(db, clock)
      const updatedAt = async (): Promise<number> => (await players.find('ann'))!.updatedAt - START
      expect(await players.find('ann')).toEqual({
        userId: 'ann',
        userName: 'name of ann',
        playerRating: 0,
        playCount: 0,
        updatedAt: START,
      })
      expect(await players.find('nobody')).toBeUndefined()

      clock.set(START + 1)
      await scores.change('ann', (own) => own.putAll([score(101, START + 1)]))
      expect(await updatedAt()).toBe(1)
      clock.set(START + 2)
      await scores.change('ann', (own) => own.ofMusic([{ musicId: 101, level: 3 }]))
      await scores.change('ann', (own) => own.remove({ musicId: 999, level: 3 }))
      await expect(
        scores.change('ann', async (own) => {
          await own.putAll([score(102, START + 2)])
          throw new Error('no')
        }),
      ).rejects.toThrow('no')
      await scores.change('bob', (own) => own.putAll([score(101, START + 2)]))
      expect(await updatedAt()).toBe(1)
      clock.set(START + 3)
      expect(await scores.change('ann', (own) => own.remove({ musicId: 101, level: 3 }))).toBe(true)
      expect(await updatedAt()).toBe(3)
      clock.set(START + 4)
      expect(await scores.change('ann', (own) => own.removeAll())).toBe(0)
      expect(await updatedAt()).toBe(3)
      await items.putAll('ann', [{ itemKind: 1, itemId: 1, stock: 1, isValid: true }])
      expect(await updatedAt()).toBe(4)
      expect(await scores.all('bob')).toHaveLength(1)
    })
  })
}

export function describeItemRepository(name: string, open: OpenDatabase): void {
  describe(`items in ${name}`, () => {
    it('items are listed by kind and id, overwritten, and separate for each player', async () => {
      const clock = manualClock(START)
      const db = await (await open()).connect()
      await createPlayers(db, clock, 'ann', 'bob')
      const items = new ItemRepository(db, clock)
      const item = (itemKind: Item['itemKind'], itemId: number, stock: number, isValid = true): Item => ({
        itemKind,
        itemId,
        stock,
        isValid,
      })
      await items.putAll('ann', [])
      expect(await items.all('ann')).toEqual([])
      await items.putAll('ann', [item(15, 1, 2), item(2, 9, 1), item(2, 8, 1, false)])
      await items.putAll('bob', [item(2, 9, 5)])
      expect(await items.all('ann')).toEqual([item(2, 8, 1, false), item(2, 9, 1), item(15, 1, 2)])
      await items.putAll('ann', [item(2, 9, 7, false), item(2, 8, 1)])
      expect(await items.all('ann')).toEqual([item(2, 8, 1), item(2, 9, 7, false), item(15, 1, 2)])
      expect(await items.all('bob')).toEqual([item(2, 9, 5)])
    })
  })
}

export function describeGateRepository(name: string, open: OpenDatabase): void {
  describe(`gates in ${name}`, () => {
    it('ten gates are listed, with stored ones as they were', async () => {
      const clock = manualClock(START)
      const db = await (await open()).connect()
      await createPlayers(db, clock, 'ann', 'bob')
      const gates = new GateRepository(db, clock)
      const untouched = ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const).map(untouchedGate)
      expect(await gates.all('ann')).toEqual(untouched)
      const seven: Gate = {
        gateId: 7,
        isGateFound: true,
        isKeyFound: false,
        isClear: true,
        totalRestLife: 1,
        totalAchievement: 2 ** 40,
        totalDeluxscore: 3,
        bestAchievement: 1_010_000,
        bestDeluxscore: 5,
        bestAchievementAt: START,
        bestDeluxscoreAt: START + 1,
        playCount: 6,
        clearAt: START + 2,
        lastPlayAt: START + 3,
        isInfoWatched: true,
      }
      await gates.putAll('ann', [seven])
      expect((await gates.all('ann'))[6]).toEqual(seven)
      await gates.putAll('ann', [
        { ...seven, playCount: 7, clearAt: null },
        { ...untouchedGate(1), isGateFound: true },
      ])
      expect(await gates.all('ann')).toEqual([
        { ...untouchedGate(1), isGateFound: true },
        ...untouched.slice(1, 6),
        { ...seven, playCount: 7, clearAt: null },
        ...untouched.slice(7),
      ])
      expect(await gates.all('bob')).toEqual(untouched)
    })
  })
}

async function balanceOf(db: Db, userId: string): Promise<number> {
  return (await db.selectFrom('users').select('balance').where('id', '=', userId).executeTakeFirstOrThrow()).balance
}

export function describeTicketRepository(name: string, open: OpenDatabase): void {
  describe(`tickets in ${name}`, () => {
    it('tickets are paid from the balance, listed until they expire, and cleared', async () => {
      const clock = manualClock(START)
      const db = await (await open()).connect()
      await createPlayers(db, clock, 'ann', 'bob')
      const tickets = new TicketService(new TicketRepository(db, clock))
      const nothing = async (): Promise<void> => undefined
      expect(await tickets.buy('ann', 5, nothing)).toBe(7)
      clock.advance(1_000)
      expect(await tickets.buy('ann', 2, nothing)).toBe(6)
      expect(await tickets.buy('ann', 3, nothing)).toBe(4)
      await tickets.buy('bob', 2, nothing)
      const lot = (chargeId: 2 | 3 | 5, purchasedAt: number) => ({
        chargeId,
        stock: 1,
        purchasedAt,
        validUntil: purchasedAt + TICKET_VALID_MS,
      })
      expect(await tickets.held('ann')).toEqual([lot(5, START), lot(2, START + 1_000), lot(3, START + 1_000)])
      clock.set(START + TICKET_VALID_MS - 1)
      expect(await tickets.held('ann')).toHaveLength(3)
      clock.set(START + TICKET_VALID_MS)
      expect(await tickets.held('ann')).toHaveLength(2)
      expect(await tickets.clear('ann')).toBe(2)
      expect(await tickets.clear('ann')).toBe(0)
      expect(await balanceOf(db, 'ann')).toBe(4)
      expect(await tickets.held('bob')).toHaveLength(1)
      expect(await db.selectFrom('tickets').select('id').where('user_id', '=', 'ann').execute()).toEqual([])
    })

    it('a purchase whose transaction fails at its end is neither stored nor paid', async () => {
      const clock = manualClock(START)
      const db = await (await open()).connect()
      await createPlayers(db, clock, 'ann')
      const tickets = new TicketService(new TicketRepository(db, clock))
      const buying = tickets.buy('ann', 5, () => Promise.reject(new Error('no')))
      await expect(buying).rejects.toThrow('no')
      expect([await balanceOf(db, 'ann'), await tickets.held('ann')]).toEqual([10, []])
    })

    it('concurrent purchases never cost more than the balance', async () => {
      const clock = manualClock(START)
      const db = await (await open()).connect()
      await createPlayers(db, clock, 'ann')
      const tickets = new TicketService(new TicketRepository(db, clock))
      const bought = await Promise.allSettled(
        Array.from({ length: 8 }, () => tickets.buy('ann', 3, async () => undefined)),
      )
      const refused = bought.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
      expect(refused.map(({ reason }) => reason.code)).toEqual(Array(3).fill('insufficient_balance'))
      expect([await balanceOf(db, 'ann'), (await tickets.held('ann')).length]).toEqual([0, 5])
    })
  })
}
