import * as z from 'zod'
import { envelope } from '../http/envelope.ts'
import { CHARGE_IDS, type ChargeId } from './ticket.ts'

const chargeId = z.literal(CHARGE_IDS, { error: `expected one of ${CHARGE_IDS.join(', ')}` })

/** `charge` is another name of `chargeId`: one of them, or both alike. */
export const chargeBody = z
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

export const emptyBody = z.object({})

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
