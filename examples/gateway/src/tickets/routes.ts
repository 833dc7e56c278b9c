import type { Transaction } from 'kysely'
import * as z from 'zod'
import type { Tables } from '../db/schema.ts'
import type { ChargeFirst } from '../db/with-player.ts'
import { envelope, type Route, route, success } from '../http/route.ts'
import { IDEMPOTENCY_KEY, IDEMPOTENCY_REPLAYED, type Idempotency } from '../idempotency/idempotency.ts'
import { CHARGE_IDS, type ChargeId } from './ticket-repository.ts'
import type { TicketService } from './ticket-service.ts'

const chargeId = z.literal(CHARGE_IDS, { error: `expected one of ${CHARGE_IDS.join(', ')}` })

/** `charge` is another name of `chargeId`. Send one of them, or both with the same value. */
const chargeBody = z
  .object({ chargeId: chargeId.optional(), charge: chargeId.optional() })
  .transform((body, context): { chargeId: ChargeId } => {
    const given = body.chargeId ?? body.charge
    if (given === undefined) {
      context.addIssue({ code: 'custom', path: ['chargeId'], message: `expected one of ${CHARGE_IDS.join(', ')}` })
      return z.NEVER
    }
    if (body.charge !== undefined && body.charge !== given) {
      const message = `differs from chargeId (${given}), whose other name it is: send one of them`
      context.addIssue({ code: 'custom', path: ['charge'], message })
      return z.NEVER
    }
    return { chargeId: given }
  })

const emptyBody = z.object({})

export const chargeAnswer = envelope(
  z.object({
    /** The ticket's `chargeId`. */
    charge: z.literal(CHARGE_IDS),
    /** Tokens of the quota. */
    tokensCharged: z.int(),
    /** The remaining credits. */
    balance: z.int(),
  }),
)

export const heldAnswer = envelope(
  z.object({
    length: z.int(),
    userChargeList: z.array(
      z.object({
        chargeId: z.literal(CHARGE_IDS),
        stock: z.int(),
        purchaseDate: z.iso.datetime({ precision: 3 }),
        validDate: z.iso.datetime({ precision: 3 }),
      }),
    ),
  }),
)

export const clearAnswer = envelope(z.object({ clearedCount: z.int() }))

/** Routes to buy, list and clear tickets. */
export function ticketRoutes(service: TicketService, idempotency: Idempotency): Route[] {
  return [
    buying(service, idempotency),
    route({
      method: 'post',
      path: '/v1/user/charge',
      docs: {
        id: 'readTickets',
        tag: 'Ticket',
        summary: 'List your tickets',
        description: 'Valid tickets, with the number of each kind.',
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
        summary: 'Clear your tickets',
        description: "Removes all tickets. Credits aren't refunded.",
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
        'Kinds 2, 3 and 5 cost 1, 2 and 3 credits, and each has its own price in tokens. A ticket is valid for 90 days.',
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

/** Routes for clients that expect purchases to be queued. */
export function queueRoutes(): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/charge/queue',
      docs: {
        id: 'listChargeQueue',
        tag: 'Ticket',
        summary: 'List pending purchases',
        description: 'Always empty, because purchases complete immediately.',
      },
      access: 'user',
      answer: envelope(z.object({ length: z.int(), queue: z.array(z.object({ chargeId: z.int() })) })),
      operation: 'user.charge',
      handle: () => ({ body: success({ length: 0, queue: [] }) }),
    }),
  ]
}
