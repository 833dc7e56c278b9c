import type { Transaction } from 'kysely'
import type { Tables } from '../db/schema.ts'
import type { ChargeFirst } from '../db/with-player.ts'
import { success } from '../http/envelope.ts'
import { type Route, route } from '../http/route.ts'
import { IDEMPOTENCY_KEY, IDEMPOTENCY_REPLAYED, type Idempotency } from '../idempotency/idempotency.ts'
import { chargeAnswer, chargeBody, clearAnswer, emptyBody, heldAnswer } from './bodies.ts'
import type { TicketService } from './ticket-service.ts'

/** Buying, listing and clearing tickets. */
export function ticketRoutes(service: TicketService, idempotency: Idempotency): Route[] {
  return [
    buying(service, idempotency),
    route({
      method: 'post',
      path: '/v1/user/charge',
      docs: {
        id: 'readTickets',
        tag: 'Ticket',
        summary: 'List the tickets held',
        description: 'The tickets that are still valid, with the number of each.',
      },
      access: 'user',
      body: emptyBody,
      answer: heldAnswer,
      operation: 'user.charge',
      async handle({ user }) {
        const held = await service.held(user.id)
        const userChargeList = held.map(({ chargeId, stock, purchasedAt, validUntil }) => ({
          chargeId,
          stock,
          purchaseDate: new Date(purchasedAt).toISOString(),
          validDate: new Date(validUntil).toISOString(),
        }))
        return { body: success({ length: userChargeList.length, userChargeList }) }
      },
    }),
    route({
      method: 'post',
      path: '/v1/ticket/clear',
      docs: {
        id: 'clearTickets',
        tag: 'Ticket',
        summary: 'Clear the tickets held',
        description: 'Removes all of them; credits are not refunded.',
      },
      access: 'user',
      body: emptyBody,
      answer: clearAnswer,
      operation: 'ticket.clear',
      chargesWithin: true,
      async handle({ user, charge }) {
        return { body: success({ clearedCount: await service.clear(user.id, charge) }) }
      },
    }),
  ]
}

function buying(service: TicketService, idempotency: Idempotency): Route {
  return route({
    method: 'post',
    path: '/v1/charge',
    docs: {
      id: 'buyTicket',
      tag: 'Ticket',
      summary: 'Buy a ticket',
      description:
        'The kinds 2, 3 and 5 cost 1, 2 and 3 credits of the balance, and each its own tokens. A ticket is valid for 90 days.',
      operations: ['charge.2', 'charge.3', 'charge.5'],
      example: { chargeId: 2 },
      errors: ['insufficient_balance', 'idempotency_key_reused', 'conflict'],
    },
    access: 'user',
    requestHeaders: [IDEMPOTENCY_KEY],
    answerHeaders: [IDEMPOTENCY_REPLAYED],
    body: chargeBody,
    answer: chargeAnswer,
    operation: ({ chargeId }) => `charge.${chargeId}` as const,
    chargesWithin: true,
    recall: (call) => idempotency.recall(call),
    async handle({ req, user, input: { chargeId }, charge }) {
      const keep = idempotency.keeperOf(req)
      let tokensCharged = 0
      const charged: ChargeFirst = async (transaction) => {
        const decision = await charge(transaction)
        tokensCharged = decision?.cost ?? 0
        return decision
      }
      const bodyOf = (balance: number) => success({ charge: chargeId, tokensCharged, balance })
      const bought = (transaction: Transaction<Tables>, left: number) => keep(transaction, { body: bodyOf(left) })
      const balance = await service.buy(user.id, chargeId, bought, charged)
      return { body: bodyOf(balance) }
    },
  })
}
