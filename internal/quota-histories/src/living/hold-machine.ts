import { copyOf, ModelCounters, type ModelState } from '@scoregw/quota-testkit/model'
import type { Machine } from './explore.ts'
import {
  GROWTH,
  HOLD_MOVES,
  type HoldMove,
  type MoveAnswer,
  moveModel,
  PARTIES,
  type PartyName,
  PLAIN,
  SLOTS,
  SLOTS_NAME,
  TOKENS,
  turnOf,
  WINDOW,
} from './hold-moves.ts'

type Sums = Readonly<Record<string, number>>

/** A caller's view only from the answers: tokens by the start of the window that they were charged in. */
interface Heard {
  /** Not settled, and its end not come. */
  readonly open: boolean
  readonly endsAt: number
  readonly tokens: Sums
  /** A commit was answered; another one means nothing. */
  readonly isCommitted?: boolean
}

interface HoldState {
  readonly now: number
  readonly stepsBack: number
  readonly counters: ModelState
  readonly heard: Readonly<Partial<Record<PartyName, Heard>>>
  /** What was charged for good, by the start of its window. */
  readonly spent: Sums
  /** What commits may have charged beyond what was held, in all. */
  readonly debt: number
  /** The first promise that a move broke. */
  readonly broken?: string
}

function plus(sums: Sums, start: number | string, tokens: number): Sums {
  return tokens === 0 ? sums : { ...sums, [start]: (sums[start] ?? 0) + tokens }
}

/** The hold of a party once its end was found to have come. */
function looked(state: HoldState, parties: readonly PartyName[]): HoldState {
  const heard = { ...state.heard }
  for (const party of parties) {
    const one = heard[party]
    if (one?.open && state.now >= one.endsAt) heard[party] = { ...one, open: false, tokens: {} }
  }
  return { ...state, heard }
}

/** Two processes with a hold each, on one window and its slots, each only by its answers. */
export function holdMachine(
  Counters: typeof ModelCounters = ModelCounters,
  moves: readonly HoldMove[] = HOLD_MOVES,
): Machine<HoldState, HoldMove> {
  const modelOf = ({ now, counters }: HoldState): ModelCounters => new Counters({ now: () => now }, counters)

  function start(state: HoldState): number {
    return modelOf(state).windows.open(WINDOW.name, WINDOW.span)?.startedAt ?? -1
  }

  /** The state after a caller has received the answer to its move. */
  function hear(state: HoldState, party: PartyName, what: string, answer: MoveAnswer): HoldState {
    const one = state.heard[party]
    if (what === 'holds') return one === undefined ? held(state, party, answer) : state
    if (one === undefined) return state
    if (what === 'commits') return committed(state, party, one, answer)
    if (what === 'cancels') return one.open ? knowing(state, party, { ...one, open: false, tokens: {} }) : state
    return moved(state, party, one, answer)
  }

  function knowing(state: HoldState, party: PartyName, one: Heard): HoldState {
    return { ...state, heard: { ...state.heard, [party]: one } }
  }

  function held(state: HoldState, party: PartyName, [outcome, endsAt]: MoveAnswer): HoldState {
    if (outcome !== 'admitted') return state
    return knowing(state, party, {
      open: true,
      endsAt: Number(endsAt),
      tokens: { [start(state)]: PARTIES[party].cost },
    })
  }

  /** Of an extension, which moves the end, or of a growth, which does not. */
  function moved(state: HoldState, party: PartyName, one: Heard, [outcome, endsAt, grown]: MoveAnswer): HoldState {
    if (outcome !== 'held') return state
    if (!one.open) return { ...state, broken: 'a hold was revived' }
    const tokens = grown === undefined ? one.tokens : plus(one.tokens, start(state), Number(grown))
    return knowing(state, party, { ...one, endsAt: Number(endsAt), tokens })
  }

  /** Of a commit: what stays of what was held, and what was charged in addition. A second one means nothing. */
  function committed(state: HoldState, party: PartyName, one: Heard, [outcome, answer]: MoveAnswer): HoldState {
    if (outcome !== 'settled' || one.isCommitted === true) return state
    const charged = Number(answer)
    const heard = { ...state.heard, [party]: { ...one, open: false, tokens: {}, isCommitted: true } }
    const held = Object.values(one.tokens).reduce((sum, tokens) => sum + tokens, 0)
    let back = Math.max(0, held - charged)
    let { spent } = state
    for (const [at, tokens] of Object.entries(one.tokens).sort(([a], [b]) => Number(b) - Number(a))) {
      spent = plus(spent, at, tokens - Math.min(back, tokens))
      back = 0
    }
    const more = Math.max(0, charged - held)
    const most = PARTIES[party].maxOverrun + (one.open ? 0 : PARTIES[party].cost + 3 * GROWTH)
    const broken = more > most ? { broken: 'a commit charged more than it may' } : {}
    return { ...state, heard, spent: plus(spent, start(state), more), debt: state.debt + more, ...broken }
  }

  function next(before: HoldState, move: HoldMove): HoldState {
    const turn = turnOf(modelOf(before), move) ?? 0
    const counters = copyOf(before.counters)
    const stepsBack = before.stepsBack - (turn < 0 ? 1 : 0)
    const state: HoldState = { ...before, now: before.now + turn, stepsBack, counters }
    const answer = moveModel(modelOf(state), move)
    if (move === 'peer sweeps') return looked(state, ['one', 'other'])
    if (move === 'other takes')
      return answer[0] === 'admitted' ? { ...state, spent: plus(state.spent, start(state), PLAIN) } : state
    const [party, what] = move.split(' ') as [PartyName, string]
    return Object.hasOwn(PARTIES, party) ? hear(looked(state, [party]), party, what, answer) : state
  }

  function broken(state: HoldState): string | undefined {
    if (state.broken !== undefined) return state.broken
    const model = modelOf(state)
    const heard = Object.values(state.heard)
    const taken = model.slotsTaken(SLOTS_NAME)
    const open = heard.filter((one) => one.open).length
    if (taken !== open) return `${taken} slots are taken, and ${open} are held`
    if (taken > SLOTS) return `${taken} slots are taken of ${SLOTS}`
    const window = model.windows.open(WINDOW.name, WINDOW.span)
    if (window === undefined) return undefined
    const at = String(window.startedAt)
    const due = heard.reduce((sum, { tokens }) => sum + (tokens[at] ?? 0), state.spent[at] ?? 0)
    if (window.used !== due) return `${window.used} tokens are used, and ${due} were charged and not given back`
    return due > TOKENS + state.debt ? `${due} tokens are used of ${TOKENS}, and ${state.debt} may be owed` : undefined
  }

  return {
    initial: {
      now: 1_000_000,
      stepsBack: 1,
      counters: { windows: {}, slots: {}, records: {} },
      heard: {},
      spent: {},
      debt: 0,
    },
    actions: (state) =>
      moves.filter((move) => {
        if (move === 'the clock steps back') return state.stepsBack > 0
        return turnOf(modelOf(state), move) !== undefined
      }),
    next,
    broken,
  }
}
