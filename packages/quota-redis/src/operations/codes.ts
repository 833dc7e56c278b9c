/**
 * Codes of operations in a batch; those from `FIRST_TARIFF` on are takes of a tariff. Characters below 128, which are one
 * byte on the wire.
 */
export const CODES = {
  TAKE_ID: 0,
  SETTLE: 1,
  SETTLE_ID: 2,
  RESET: 3,
  UNDO: 4,
  UNDO_ID: 5,
  LOOK: 6,
  FIRST_TARIFF: 7,
} as const

/** The script's answer to whatever touches a row or record that cannot be read. */
export const DAMAGE = 'b'
