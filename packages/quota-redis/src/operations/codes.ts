/**
 * Codes of operations in a batch, those of holds from `TAKE_HOLD` on; those from `FIRST_TARIFF` on are takes of a tariff.
 * `PLAIN` stands before a batch of nothing but takes of the first tariff. Characters below 128, which are one byte on the wire.
 */
export const CODES = {
  TAKE_ID: 0,
  SETTLE: 1,
  SETTLE_ID: 2,
  RESET: 3,
  UNDO: 4,
  UNDO_ID: 5,
  LOOK: 6,
  TAKE_HOLD: 7,
  EXTEND: 8,
  GROW: 9,
  SETTLE_HOLD: 10,
  SWEEP: 11,
  SHOW: 12,
  UNDO_HOLD: 13,
  FIRST_TARIFF: 14,
  PLAIN: 127,
} as const

/** The script's answer to whatever touches a row or record that cannot be read. */
export const DAMAGE = 'b'

/** A place in the codes: the high and the low 7 bits. */
export function placeCode(place: number): string {
  return PLACES[place]!
}

const PLACES: readonly string[] = Array.from({ length: 128 * 128 }, (_, place) =>
  String.fromCharCode(place >> 7, place & 127),
)
