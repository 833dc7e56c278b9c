import { randomUUID } from 'node:crypto'
import type { Clock } from '@scoregw/quota'
import * as z from 'zod'
import type { Db } from '../db/schema.ts'
import { type PlayerTransaction, withPlayer } from '../db/with-player.ts'
import { HttpError } from '../http/http-error.ts'
import { envelope, type Route, success, userRoute } from '../http/route.ts'
import { instantText, isoInstant } from '../http/schemas.ts'
import { IDEMPOTENCY_KEY, IDEMPOTENCY_REPLAYED, type Idempotency } from '../idempotency/idempotency.ts'

/** The kind of a ticket: its multiplier. */
const CHARGE_IDS = [2, 3, 5] as const
type ChargeId = (typeof CHARGE_IDS)[number]

/** The price of a ticket, in credits. */
export const TICKET_CREDITS: Readonly<Record<ChargeId, number>> = { 2: 1, 3: 2, 5: 3 }

/** How long a ticket is valid, in milliseconds: 90 days. */
export const TICKET_VALID_MS = 7_776_000_000

const kind = `expected one of ${CHARGE_IDS.join(', ')}`
const chargeId = z.literal(CHARGE_IDS, { error: kind })

/** `charge` is another name of `chargeId`. Send one of them, or both with the same value. */
const chargeBody = z
  .object({ chargeId: chargeId.optional(), charge: chargeId.optional() })
  .refine((body) => body.chargeId !== undefined || body.charge !== undefined, { path: ['chargeId'], error: kind })
  .refine((body) => (body.charge ?? body.chargeId) === (body.chargeId ?? body.charge), {
    path: ['charge'],
    error: 'differs from chargeId, whose other name it is: send one of them',
  })
  .transform((body) => ({ chargeId: body.chargeId ?? body.charge ?? CHARGE_IDS[0] }))

/** The same for programs, which can't read the checks: one of the two has to be there. */
const chargeForm = z.union([z.object({ chargeId }), z.object({ charge: chargeId })])

export const chargeAnswer = envelope(
  z.object({
    charge: chargeId.describe("The ticket's `chargeId`."),
    tokensCharged: z.int().describe('Tokens of the quota.'),
    balance: z.int().describe('The remaining credits.'),
  }),
)

const ticket = z.object({ chargeId, stock: z.int(), purchaseDate: isoInstant, validDate: isoInstant })
export const heldAnswer = envelope(z.object({ length: z.int(), userChargeList: z.array(ticket) }))
export const clearAnswer = envelope(z.object({ clearedCount: z.int() }))

export interface TicketOptions {
  readonly db: Db
  readonly clock: Clock
  readonly idempotency: Idempotency
}

/** Routes to buy, list and clear tickets. */
export function ticketRoutes(options: TicketOptions): Route[] {
  const { db, clock } = options
  return [
    buying(options),
    userRoute('POST /v1/user/charge', {
      id: 'readTickets',
      tag: 'Ticket',
      summary: 'List your tickets',
      description: 'Valid tickets, with the number of each kind.',
      body: z.object({}),
      answer: heldAnswer,
      operation: 'user.charge',
      async handle({ user }) {
        const rows = await validTickets(db, user.id, clock.now())
          .selectAll()
          .orderBy('purchased_at')
          .orderBy('charge_id')
          .orderBy('id')
          .execute()
        const userChargeList = rows.map((row) => ({
          chargeId: row.charge_id as ChargeId,
          stock: row.stock,
          purchaseDate: instantText(row.purchased_at),
          validDate: instantText(row.valid_until),
        }))
        return { body: success({ length: rows.length, userChargeList }) }
      },
    }),
    userRoute('POST /v1/ticket/clear', {
      id: 'clearTickets',
      tag: 'Ticket',
      summary: 'Clear your tickets',
      description: "Removes all tickets. Credits aren't refunded.",
      body: z.object({}),
      answer: clearAnswer,
      operation: 'ticket.clear',
      chargesInTransaction: true,
      async handle({ user, charge }) {
        const clear = async (player: PlayerTransaction): Promise<number> => {
          const held = await validTickets(player.db, user.id, player.now).select('stock').execute()
          await player.db.deleteFrom('tickets').where('user_id', '=', user.id).execute()
          return held.reduce((sum, { stock }) => sum + stock, 0)
        }
        return { body: success({ clearedCount: await withPlayer(db, clock, user.id, clear, charge) }) }
      },
    }),
    // For clients that expect purchases to be queued.
    userRoute('GET /v1/charge/queue', {
      id: 'listChargeQueue',
      tag: 'Ticket',
      summary: 'List pending purchases',
      description: 'Always empty, because purchases complete immediately.',
      answer: envelope(z.object({ length: z.int(), queue: z.array(z.object({ chargeId: z.int() })) })),
      operation: 'user.charge',
      handle: () => ({ body: success({ length: 0, queue: [] }) }),
    }),
  ]
}

function buying({ db, clock, idempotency }: TicketOptions): Route {
  return userRoute('POST /v1/charge', {
    id: 'buyTicket',
    tag: 'Ticket',
    summary: 'Buy a ticket',
    description:
      'Kinds 2, 3 and 5 cost 1, 2 and 3 credits, and each has its own price in tokens. A ticket is valid for 90 days.',
    operations: ['charge.2', 'charge.3', 'charge.5'],
    example: { chargeId: 2 },
    bodyForm: chargeForm,
    errors: ['insufficient_balance', 'idempotency_key_reused', 'conflict'],
    requestHeaders: [IDEMPOTENCY_KEY],
    answerHeaders: [IDEMPOTENCY_REPLAYED],
    body: chargeBody,
    answer: chargeAnswer,
    operation: (input) => `charge.${input.chargeId}`,
    chargesInTransaction: true,
    recall: (call) => idempotency.recall(call),
    async handle(call) {
      const { user, charge, input } = call
      const buy = async ({ db: transaction, now }: PlayerTransaction, tokensCharged: number) => {
        const { balance: before } = await transaction
          .selectFrom('users')
          .select('balance')
          .where('id', '=', user.id)
          .executeTakeFirstOrThrow()
        const credits = TICKET_CREDITS[input.chargeId]
        if (credits > before) {
          const msg = `A ticket of chargeId ${input.chargeId} costs ${credits} credits, and the balance is ${before}.`
          throw new HttpError('insufficient_balance', msg)
        }
        const balance = before - credits
        await transaction.updateTable('users').set({ balance }).where('id', '=', user.id).execute()
        const times = { purchased_at: now, valid_until: now + TICKET_VALID_MS }
        await transaction
          .insertInto('tickets')
          .values({ id: randomUUID(), user_id: user.id, charge_id: input.chargeId, stock: 1, ...times })
          .execute()
        const reply = { body: success({ charge: input.chargeId, tokensCharged, balance }) }
        await idempotency.keep(transaction, call, reply)
        return reply
      }
      return withPlayer(db, clock, user.id, buy, async (transaction) => {
        await idempotency.begin(transaction, call)
        return charge(transaction)
      })
    },
  })
}

/** A player's tickets that are valid at an instant. */
function validTickets(db: Db, userId: string, at: number) {
  return db.selectFrom('tickets').where('user_id', '=', userId).where('valid_until', '>', at)
}
