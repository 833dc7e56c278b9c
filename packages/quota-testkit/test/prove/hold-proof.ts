import { holdMachine, type Proof } from '@scoregw/quota-histories'
import { BROKEN_COUNTERS } from '../hold-mutants.ts'

export const HOLD_PROOF: Proof = {
  slug: 'holds',
  title: 'Two processes with a hold each',
  about:
    'Two processes hold tokens and a slot of one window. They extend, grow, commit above and below what they hold, and cancel. Holds end by themselves, a peer sweeps and resets, and the clock steps back. Each process is judged by the answers it got alone. The stores answer such histories as this model does: a test plays all short ones on each of them.',
  promises: [
    'slots that are taken are those of open holds',
    'no more slots are taken than there are',
    'what is used is what was charged and not given back',
    'no hold is revived after its end',
    'a commit charges no more than it may',
  ],
  machine: holdMachine(),
  actors: ['one', 'other', 'peer'],
  depths: { quick: 6, usual: 8 },
  rules: Object.fromEntries(
    BROKEN_COUNTERS.map(({ rule, fault, Counters, promise }) => [
      rule,
      [{ fault, machine: holdMachine(Counters), promise }],
    ]),
  ),
}
