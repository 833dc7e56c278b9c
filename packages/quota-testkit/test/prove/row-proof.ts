import { type LeftOut, type Proof, type RowRules, rowMachine } from '@scoregw/quota-histories'

/** Every rule has a line: the compiler wants one, and the run wants a variant in it. */
type OfRules = Readonly<Record<keyof RowRules, readonly [rule: string, readonly LeftOut[]]>>

function without(fault: string, left: Partial<RowRules>, promise: string): LeftOut {
  return { fault, machine: rowMachine(left), promise }
}

const RULES: OfRules = {
  expiry: [
    'A write never shortens the time for which a row is kept',
    [
      without('kept for as long as the writer needs', { expiry: 'from own cells alone' }, 'window c is lost'),
      without('kept for as long as it was', { expiry: 'as it was' }, 'window c is lost'),
    ],
  ],
  grace: [
    'A row is kept a while after its last window',
    [without('kept to the millisecond', { grace: 'none' }, 'window b is lost')],
  ],
  unknown: [
    'A write carries the cells that its policy does not know',
    [without('cells that are unknown are dropped', { unknown: 'dropped' }, 'window a is lost')],
  ],
  charge: [
    'A charge goes by each cell',
    [without('a charge goes by the first cell', { charge: 'of the first cell' }, 'window b began at 10 instead of 11')],
  ],
  close: [
    'A reset goes by each cell',
    [
      without(
        'a reset goes by the first cell',
        { close: 'by the first cell' },
        'window b is open, and ought not to be',
      ),
    ],
  ],
  reset: [
    'A reset closes the cells that its policy knows',
    [without('a reset closes the whole row', { reset: 'the whole row' }, 'window a is lost')],
  ],
  start: [
    'A window opens later than its last opening',
    [without('a window opens at the instant', { start: 'now' }, 'window a began at 10 instead of 11')],
  ],
  name: [
    'A cell is known by its name',
    [without('numbers are assigned to cells', { name: 'assigned number' }, 'window b is lost')],
  ],
}

export const ROW_PROOF: Proof = {
  slug: 'rows',
  title: 'One row that two policies write',
  about:
    'An old and a young policy share a row: each has a window that the other does not know. Both charge, give back and reset; time passes, the clock steps back, a replica takes over. Cells are charged, given back and closed by the functions of the stores, and compared with the model of windows.',
  promises: [
    'no window is lost while it counts',
    'no window is open that ended or was reset',
    'what is used is what was charged and not given back',
    'a window begins when it was opened',
  ],
  machine: rowMachine(),
  actors: ['old', 'young', 'the replica'],
  depths: { quick: 6, usual: 9 },
  rules: Object.fromEntries(Object.values(RULES)),
}
