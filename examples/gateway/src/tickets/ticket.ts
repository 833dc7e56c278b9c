export const CHARGE_IDS = [2, 3, 5] as const
/** The kinds of tickets: by how much each multiplies. */
export type ChargeId = (typeof CHARGE_IDS)[number]

/** What a ticket costs, in credits of the balance. */
export const TICKET_CREDITS: Readonly<Record<ChargeId, number>> = { 2: 1, 3: 2, 5: 3 }

/** How long a ticket is valid, in milliseconds: 90 days. */
export const TICKET_VALID_MS = 7_776_000_000

/** Tickets of one kind, bought at one instant. Instants are epoch milliseconds. */
export interface TicketLot {
  readonly chargeId: ChargeId
  readonly stock: number
  readonly purchasedAt: number
  /** From this instant on they are worth nothing, and not listed. */
  readonly validUntil: number
}
