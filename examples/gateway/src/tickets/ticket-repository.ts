import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import type { Transaction } from 'kysely'
import type { Db, Tables } from '../db/schema.ts'
import { type ChargeFirst, withPlayer } from '../db/with-player.ts'

export const CHARGE_IDS = [2, 3, 5] as const
/** The kind of a ticket: its multiplier. */
export type ChargeId = (typeof CHARGE_IDS)[number]

/** The price of a ticket, in credits. */
export const TICKET_CREDITS: Readonly<Record<ChargeId, number>> = { 2: 1, 3: 2, 5: 3 }

/** How long a ticket is valid, in milliseconds: 90 days. */
export const TICKET_VALID_MS = 7_776_000_000

/** Tickets of one kind, bought at the same time. Times are epoch milliseconds. */
export interface TicketLot {
  readonly chargeId: ChargeId
  readonly stock: number
  readonly purchasedAt: number
  /** From then on they are invalid and not listed. */
  readonly validUntil: number
}

/** A player's tickets and balance in a transaction that has locked the player. */
export interface PlayerTickets {
  readonly transaction: Transaction<Tables>
  /** When it started. */
  readonly now: number
  /** In credits. */
  balance(): Promise<number>
  setBalance(balance: number): Promise<void>
  add(lot: TicketLot): Promise<void>
  /** Returns the valid tickets. */
  held(): Promise<TicketLot[]>
  /** Also removes expired ones. */
  removeAll(): Promise<void>
}

/** Players' tickets, and the balances that pay for them. */
export class TicketRepository {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** Returns a player's valid tickets, in order of purchase. */
  async held(userId: string): Promise<TicketLot[]> {
    return heldAt(this.#db, userId, this.#clock.now())
  }

  /** Changes a player's tickets in one transaction, completely or not at all. */
  async change<T>(userId: string, work: (tickets: PlayerTickets) => Promise<T>, charge?: ChargeFirst): Promise<T> {
    return withPlayer(this.#db, this.#clock, userId, ({ db, now }) => work(playerTickets(db, now, userId)), charge)
  }
}

function playerTickets(db: Transaction<Tables>, now: number, userId: string): PlayerTickets {
  return {
    transaction: db,
    now,
    async balance() {
      const user = await db.selectFrom('users').select('balance').where('id', '=', userId).executeTakeFirstOrThrow()
      return user.balance
    },
    async setBalance(balance) {
      await db.updateTable('users').set({ balance }).where('id', '=', userId).execute()
    },
    async add({ chargeId, stock, purchasedAt, validUntil }) {
      await db
        .insertInto('tickets')
        .values({
          id: randomUUID(),
          user_id: userId,
          charge_id: chargeId,
          stock,
          purchased_at: purchasedAt,
          valid_until: validUntil,
        })
        .execute()
    },
    held: () => heldAt(db, userId, now),
    async removeAll() {
      await db.deleteFrom('tickets').where('user_id', '=', userId).execute()
    },
  }
}

async function heldAt(db: Db, userId: string, now: number): Promise<TicketLot[]> {
  const rows = await db
    .selectFrom('tickets')
    .select(['charge_id', 'stock', 'purchased_at', 'valid_until'])
    .where('user_id', '=', userId)
    .where('valid_until', '>', now)
    .orderBy('purchased_at')
    .orderBy('charge_id')
    .orderBy('id')
    .execute()
  return rows.map(({ charge_id, stock, purchased_at, valid_until }) => ({
    chargeId: charge_id as ChargeId,
    stock,
    purchasedAt: purchased_at,
    validUntil: valid_until,
  }))
}
