/** How stores treat rows that several policies write. Each member's first value is right, the others are wrong. */
export interface RowRules {
  /** The effect of a write on how long a row is kept. */
  readonly expiry: 'never shortened' | 'from own cells alone' | 'as it was'
  /** How long a row is kept after its last window ends. */
  readonly grace: 'one step of the clock' | 'none'
  /** The effect of a write on cells that its policy does not know. */
  readonly unknown: 'carried' | 'dropped'
  /** How a charge judges the state of a cell. */
  readonly charge: 'of each cell' | 'of the first cell'
  /** When a reset has nothing to do. */
  readonly close: 'by each cell' | 'by the first cell'
  /** The part of a row that a reset closes. */
  readonly reset: 'known cells' | 'the whole row'
  /** Where a window begins that opens again. */
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
