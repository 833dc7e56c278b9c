import type { Transaction } from 'kysely'
import type { Tables } from '../db/schema.ts'
import type { ChargeFirst } from '../db/with-player.ts'
import { HttpError } from '../http/http-error.ts'
import {
  type ChargeId,
  type PlayerTickets,
  TICKET_CREDITS,
  TICKET_VALID_MS,
  type TicketLot,
  type TicketRepository,
} from './ticket-repository.ts'

/** Operations of players on tickets. */
export class TicketService {
  readonly #tickets: TicketRepository

  constructor(tickets: TicketRepository) {
    this.#tickets = tickets
  }

  /** Returns a player's valid tickets, in order of purchase. */
  async held(userId: string): Promise<TicketLot[]> {
    return this.#tickets.held(userId)
  }

  /**
   * Buys a ticket. Balance, ticket and everything else in the transaction are written together, or not at all.
   *
   * @param bought called with the new balance at the end of the transaction
   * @param charge called at its start
   * @returns the new balance, in credits
   * @throws {HttpError} `insufficient_balance`
   */
  async buy(
    userId: string,
    chargeId: ChargeId,
    bought: (transaction: Transaction<Tables>, balance: number) => Promise<void>,
    charge?: ChargeFirst,
  ): Promise<number> {
    const work = async (tickets: PlayerTickets): Promise<number> => {
      const before = await tickets.balance()
      const balance = before - TICKET_CREDITS[chargeId]
      if (balance < 0) throw insufficient(chargeId, before)
      await tickets.setBalance(balance)
      const { now } = tickets
      await tickets.add({ chargeId, stock: 1, purchasedAt: now, validUntil: now + TICKET_VALID_MS })
      await bought(tickets.transaction, balance)
      return balance
    }
    return this.#tickets.change(userId, work, charge)
  }

  /** Removes a player's tickets without a refund. @returns the number of valid ones */
  async clear(userId: string, charge?: ChargeFirst): Promise<number> {
    const work = async (tickets: PlayerTickets): Promise<number> => {
      const held = await tickets.held()
      await tickets.removeAll()
      return held.reduce((sum, { stock }) => sum + stock, 0)
    }
    return this.#tickets.change(userId, work, charge)
  }
}

function insufficient(chargeId: ChargeId, balance: number): HttpError {
  const msg = `A ticket of chargeId ${chargeId} costs ${TICKET_CREDITS[chargeId]} credits, and the balance is ${balance}.`
  return new HttpError('insufficient_balance', msg)
}
