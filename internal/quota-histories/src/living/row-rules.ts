/** How stores treat rows that several policies write: each member's first value is right, the others are wrong. */
export interface RowRules {
  /** What a write does to the time for which a row is kept. */
  readonly expiry: 'never shortened' | 'from own cells alone' | 'as it was'
  /** How long a row is kept after its last window ended. */
  readonly grace: 'one step of the clock' | 'none'
  /** What a write does with the cells that its policy does not know. */
  readonly unknown: 'carried' | 'dropped'
  /** What a charge takes for the state of a cell. */
  readonly charge: 'of each cell' | 'of the first cell'
  /** When a reset has nothing to do. */
  readonly close: 'by each cell' | 'by the first cell'
  /** What a reset closes. */
  readonly reset: 'known cells' | 'the whole row'
  /** Where a window begins that opens once more. */
  readonly start: 'after the last start' | 'now'
  /** The name of a cell. */
  readonly name: 'identity' | 'assigned number'
}

export const ROW_RULES: RowRules = {
  expiry: 'never shortened',
  grace: 'one step of the clock',
  unknown: 'carried',
  charge: 'of each cell',
  close: 'by each cell',
  reset: 'known cells',
  start: 'after the last start',
  name: 'identity',
}
