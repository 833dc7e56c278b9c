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

/** A caller's view, from the answers only: tokens by the start of the window that was charged. */
interface CallerView {
  /** Neither settled nor past its end. */
  readonly open: boolean
  readonly endsAt: number
  readonly tokens: Sums
  /** A commit was answered. Another one has no effect. */
  readonly isCommitted?: boolean
}

interface HoldState {
  readonly now: number
  readonly stepsBack: number
  readonly counters: ModelState
  readonly views: Readonly<Partial<Record<PartyName, CallerView>>>
  /** Amounts charged for good, by the start of their window. */
  readonly spent: Sums
  /** The most that commits may have charged beyond the holds. */
  readonly debt: number
  /** The first promise that a move broke. */
  readonly broken?: string
}

function plus(sums: Sums, start: number | string, tokens: number): Sums {
  return tokens === 0 ? sums : { ...sums, [start]: (sums[start] ?? 0) + tokens }
}

/** A party's hold after its end was noticed. */
function noticed(state: HoldState, parties: readonly PartyName[]): HoldState {
  const views = { ...state.views }
  for (const party of parties) {
    const one = views[party]
    if (one?.open && state.now >= one.endsAt) views[party] = { ...one, open: false, tokens: {} }
  }
  return { ...state, views }
}

/** Two processes with one hold each, on one window and its slots, each known only by its answers. */
export function holdMachine(
  Counters: typeof ModelCounters = ModelCounters,
  moves: readonly HoldMove[] = HOLD_MOVES,
): Machine<HoldState, HoldMove> {
  const modelOf = ({ now, counters }: HoldState): ModelCounters => new Counters({ now: () => now }, counters)

  function start(state: HoldState): number {
    return modelOf(state).windows.open(WINDOW.name, WINDOW.span)?.startedAt ?? -1
  }

  /** The state after a caller received the answer to its move. */
  function answered(state: HoldState, party: PartyName, what: string, answer: MoveAnswer): HoldState {
    const one = state.views[party]
    if (what === 'holds') return one === undefined ? held(state, party, answer) : state
    if (one === undefined) return state
    if (what === 'commits') return committed(state, party, one, answer)
    if (what === 'cancels') return one.open ? knowing(state, party, { ...one, open: false, tokens: {} }) : state
    return moved(state, party, one, answer)
  }

  function knowing(state: HoldState, party: PartyName, one: CallerView): HoldState {
    return { ...state, views: { ...state.views, [party]: one } }
  }

  function held(state: HoldState, party: PartyName, [outcome, endsAt]: MoveAnswer): HoldState {
    if (outcome !== 'admitted') return state
    return knowing(state, party, {
      open: true,
      endsAt: Number(endsAt),
      tokens: { [start(state)]: PARTIES[party].cost },
    })
  }

  /** After an extension, which moves the end, or a growth, which doesn't. */
  function moved(state: HoldState, party: PartyName, one: CallerView, [outcome, endsAt, grown]: MoveAnswer): HoldState {
    if (outcome !== 'held') return state
    if (!one.open) return { ...state, broken: 'a hold was revived' }
    const tokens = grown === undefined ? one.tokens : plus(one.tokens, start(state), Number(grown))
    return knowing(state, party, { ...one, endsAt: Number(endsAt), tokens })
  }

  /** After a commit: what remains of the hold, and what was charged in addition. A second one has no effect. */
  function committed(state: HoldState, party: PartyName, one: CallerView, [outcome, answer]: MoveAnswer): HoldState {
    if (outcome !== 'settled' || one.isCommitted === true) return state
    const charged = Number(answer)
    const views = { ...state.views, [party]: { ...one, open: false, tokens: {}, isCommitted: true } }
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
    return { ...state, views, spent: plus(spent, start(state), more), debt: state.debt + more, ...broken }
  }

  function next(before: HoldState, move: HoldMove): HoldState {
    const turn = turnOf(modelOf(before), move) ?? 0
    const counters = copyOf(before.counters)
    const stepsBack = before.stepsBack - (turn < 0 ? 1 : 0)
    const state: HoldState = { ...before, now: before.now + turn, stepsBack, counters }
    const answer = moveModel(modelOf(state), move)
    if (move === 'peer sweeps') return noticed(state, ['one', 'other'])
    if (move === 'other takes')
      return answer[0] === 'admitted' ? { ...state, spent: plus(state.spent, start(state), PLAIN) } : state
    const [party, what] = move.split(' ') as [PartyName, string]
    return Object.hasOwn(PARTIES, party) ? answered(noticed(state, [party]), party, what, answer) : state
  }

  function broken(state: HoldState): string | undefined {
    if (state.broken !== undefined) return state.broken
    const model = modelOf(state)
    const views = Object.values(state.views)
    const taken = model.slotsTaken(SLOTS_NAME)
    const open = views.filter((one) => one.open).length
    if (taken !== open) return `${taken} slots are taken, and ${open} are held`
    if (taken > SLOTS) return `${taken} slots are taken of ${SLOTS}`
    const window = model.windows.open(WINDOW.name, WINDOW.span)
    if (window === undefined) return undefined
    const at = String(window.startedAt)
    const due = views.reduce((sum, { tokens }) => sum + (tokens[at] ?? 0), state.spent[at] ?? 0)
    if (window.used !== due) return `${window.used} tokens are used, and ${due} were charged and not given back`
    return due > TOKENS + state.debt ? `${due} tokens are used of ${TOKENS}, and ${state.debt} may be owed` : undefined
  }

  return {
    initial: {
      now: 1_000_000,
      stepsBack: 1,
      counters: { windows: {}, slots: {}, records: {} },
      views: {},
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
