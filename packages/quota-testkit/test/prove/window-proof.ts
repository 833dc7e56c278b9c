import { type Cells, CLOSED, MAX_AHEAD_MS, roll } from '@scoregw/quota/internal'
import { type LeftOut, type Proof, type WindowRules, windowMachine } from '@scoregw/quota-histories'

function without(fault: string, left: Partial<WindowRules>, promise: LeftOut['promise']): LeftOut[] {
  return [{ fault, machine: windowMachine(left), promise }]
}

const isOpen = (cells: Cells, i: number, after: number): boolean => cells[i + 1] !== CLOSED && cells[i]! > after

export const WINDOW_PROOF: Proof = {
  slug: 'windows',
  title: 'Two windows of one row',
  about:
    'The functions that every store decides with (`roll`, `add`, `usedIn`, `reanchor`, `refund`, `close`), on a row with two windows: 2 and 7 seconds, with limits 2 and 3. Requests cost 1 and 2. Refunds, resets, and ends of windows to the millisecond happen. A clock steps back, jumps by an hour and is put right. The model of windows is beside them.',
  promises: [
    'no limit is passed, and what has room is admitted',
    'a request is charged in both windows or in none',
    'a refusal changes nothing that anyone can read',
    'what is refused is admitted after Retry-After, and not a millisecond before',
    'tokens go back to the opening they came from',
    'a window is open from its first request to its millisecond, whatever the clock does',
  ],
  machine: windowMachine(),
  actors: [],
  depths: { quick: 5, usual: 13 },
  rules: {
    'A take looks at every window before it charges one': without(
      'it looks at the first window alone',
      { looks: 'the first window' },
      'a limit was passed',
    ),
    'A refusal charges nothing': without(
      'it charges the windows that have room',
      { refusal: 'what has room' },
      /are used of the long window|window is open/,
    ),
    'A window ends at its millisecond': without(
      'it ends a millisecond later',
      { end: 'a millisecond later' },
      'Retry-After is not true',
    ),
    'A window opens later than it ever opened': without(
      'it opens at the instant',
      {
        roll(cells, i, after, opensAt, now) {
          if (!isOpen(cells, i, after)) cells[i] = CLOSED
          roll(cells, i, after, opensAt, now)
        },
      },
      /began at another time/,
    ),
    'A window that opens begins with nothing used': without(
      'it goes on from what was used before',
      {
        roll(cells, i, after, opensAt, now) {
          const used = Math.max(0, cells[i + 1]!)
          roll(cells, i, after, opensAt, now)
          cells[i + 1] = used
        },
      },
      /are used of/,
    ),
    'A refund goes to the opening it came from': without(
      'it goes to whatever is open',
      {
        refund(cells, i, _startedAt, amount) {
          if (cells[i + 1] !== CLOSED) cells[i + 1] = Math.max(0, cells[i + 1]! - amount)
        },
      },
      /are used of/,
    ),
    'A reset closes windows': without(
      'it sets what is used to 0',
      {
        close(cells, i) {
          cells[i + 1] = cells[i + 1] === CLOSED ? CLOSED : 0
        },
      },
      /window is open, and ought not to be/,
    ),
    'A window that a clock opened ahead of time is moved to the present': [
      ...without('a refusal leaves it where it is', { reanchor: () => undefined }, /are used of/),
      ...without(
        'a charge leaves it where it is',
        {
          roll(cells, i, after, opensAt, now) {
            const startedAt = cells[i]!
            roll(cells, i, after, opensAt, now)
            if (startedAt - now > MAX_AHEAD_MS) cells[i] = startedAt
          },
        },
        /./,
      ),
    ],
    'A clock that steps back closes no window': without(
      'a start in the future is no start',
      {
        usedIn(cells, i, after) {
          const isFuture = cells[i]! > after + 7_000
          return isOpen(cells, i, after) && !isFuture ? cells[i + 1]! : 0
        },
      },
      'Retry-After is not true',
    ),
  },
}
