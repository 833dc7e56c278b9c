import { add, CLOSED, close, NOT_OPEN, reanchor, refund, roll, usedIn, view } from '@scoregw/quota/internal'
import { type ModelWindow, ModelWindows } from '@scoregw/quota-testkit/model'
import type { Machine } from './explore.ts'

/** Two windows of one row, the shorter one first. */
const WINDOWS = [
  { name: 'short', lengthMs: 2_000, limit: 2 },
  { name: 'long', lengthMs: 7_000, limit: 3 },
] as const

const STEP_BACK_MS = 3_000
const JUMP_MS = 3_600_000

/** The functions of a row, and how a take uses them. A variant replaces one of them. */
export interface WindowRules {
  readonly usedIn: typeof usedIn
  readonly roll: typeof roll
  readonly reanchor: typeof reanchor
  readonly refund: typeof refund
  readonly close: typeof close
  /** The windows that a take checks before it charges. */
  readonly looks: 'every window' | 'the first window'
  /** The charge of a refusal. */
  readonly refusal: 'nothing' | 'what has room'
  /** When a window is over. */
  readonly end: 'at its millisecond' | 'a millisecond later'
}

const RULES: WindowRules = {
  usedIn,
  roll,
  reanchor,
  refund,
  close,
  looks: 'every window',
  refusal: 'nothing',
  end: 'at its millisecond',
}

interface WindowState {
  readonly now: number
  /** Pairs `[startedAt, used]`. */
  readonly cells: readonly number[]
  readonly truth: Readonly<Record<string, ModelWindow>>
  /** The last charge, which may be refunded. */
  readonly held?: { readonly starts: readonly number[]; readonly cost: number }
  readonly stepsBack: number
  readonly isAhead: boolean
  readonly jumps: number
  /** The promise that the last action broke. */
  readonly broken?: string
}

type WindowAction =
  | 'a request of 1'
  | 'a request of 2'
  | 'the last one is given back'
  | 'a reset'
  | 'a window is about to end'
  | 'a window ends'
  | 'the clock steps back'
  | 'the clock jumps ahead'
  | 'the clock is put right'

/** An action's effect, if it is possible. */
interface Move {
  can(state: WindowState): boolean
  make(state: WindowState): WindowState
}

const always = (): boolean => true

/** The functions that all stores decide with, on one row of two windows, compared with the model of windows. */
export function windowMachine(left: Partial<WindowRules> = {}): Machine<WindowState, WindowAction> {
  const rules = { ...RULES, ...left }
  const late = rules.end === 'at its millisecond' ? 0 : 1
  const afterOf = (lengthMs: number, now: number): number => now - lengthMs - late

  function hasRoom(cells: readonly number[], i: number, cost: number, now: number): boolean {
    const { lengthMs = 0, limit = 0 } = WINDOWS[i] ?? {}
    return rules.usedIn([...cells], 2 * i, afterOf(lengthMs, now)) + cost <= limit
  }

  function fits(cells: readonly number[], cost: number, now: number): boolean {
    return WINDOWS.every((_, i) => hasRoom(cells, i, cost, now))
  }

  function take(state: WindowState, cost: number): WindowState {
    const { now } = state
    const cells = [...state.cells]
    const isAdmitted = rules.looks === 'every window' ? fits(cells, cost, now) : hasRoom(cells, 0, cost, now)
    for (const [i, { lengthMs }] of WINDOWS.entries()) {
      const after = afterOf(lengthMs, now)
      if (isAdmitted || (rules.refusal === 'what has room' && hasRoom(cells, i, cost, now))) {
        rules.roll(cells, 2 * i, after, now, now)
        add(cells, 2 * i, cost)
      } else rules.reanchor(cells, 2 * i, after, now)
    }
    const { isDue, truth } = taken(state, cost)
    const next = { ...state, cells, truth }
    if (isAdmitted !== isDue) return { ...next, broken: isDue ? 'what has room was refused' : 'a limit was passed' }
    if (isAdmitted) return { ...next, held: { starts: WINDOWS.map((_, i) => cells[2 * i] ?? 0), cost } }
    return { ...next, ...brokenWait(next, cost) }
  }

  /** Whether a refused request is admitted after the named time, and not a millisecond before. */
  function brokenWait({ cells, now }: WindowState, cost: number): Pick<WindowState, 'broken'> {
    const full = WINDOWS.flatMap(({ lengthMs }, i) =>
      hasRoom(cells, i, cost, now) ? [] : [Number(cells[2 * i]) + lengthMs],
    )
    const at = Math.max(...full)
    if (fits(cells, cost, at) && !fits(cells, cost, at - 1)) return {}
    return { broken: 'Retry-After is not true' }
  }

  function refundOf(state: WindowState): WindowState {
    const { held, ...rest } = state
    if (held === undefined) return state
    const cells = [...state.cells]
    for (const i of WINDOWS.keys()) rules.refund(cells, 2 * i, held.starts[i] ?? 0, held.cost)
    const truth = truthAfter(state, (model) => {
      for (const [i, { name }] of WINDOWS.entries()) model.refund(name, held.starts[i] ?? 0, held.cost)
    })
    return { ...rest, cells, truth }
  }

  function reset(state: WindowState): WindowState {
    const cells = [...state.cells]
    for (const i of WINDOWS.keys()) rules.close(cells, 2 * i)
    const truth = truthAfter(state, (model) => {
      for (const { name } of WINDOWS) model.close(name)
    })
    return { ...state, cells, truth }
  }

  const moves: Readonly<Record<WindowAction, Move>> = {
    'a request of 1': { can: always, make: (state) => take(state, 1) },
    'a request of 2': { can: always, make: (state) => take(state, 2) },
    'the last one is given back': { can: ({ held }) => held !== undefined, make: refundOf },
    'a reset': { can: always, make: reset },
    'a window is about to end': {
      can: (state) => (nextEnd(state) ?? 0) > state.now + 1,
      make: (state) => turned(state, (nextEnd(state) ?? 0) - state.now - 1),
    },
    'a window ends': {
      can: (state) => nextEnd(state) !== undefined,
      make: (state) => turned(state, (nextEnd(state) ?? 0) - state.now),
    },
    'the clock steps back': {
      can: ({ stepsBack }) => stepsBack > 0,
      make: (state) => ({ ...turned(state, -STEP_BACK_MS), stepsBack: state.stepsBack - 1 }),
    },
    'the clock jumps ahead': {
      can: ({ jumps }) => jumps > 0,
      make: (state) => ({ ...turned(state, JUMP_MS), isAhead: true, jumps: state.jumps - 1 }),
    },
    'the clock is put right': {
      can: ({ isAhead }) => isAhead,
      make: (state) => ({ ...turned(state, -JUMP_MS), isAhead: false }),
    },
  }
  const actions = Object.keys(moves) as WindowAction[]

  return {
    initial: {
      now: 1_000_000,
      cells: WINDOWS.flatMap(() => [CLOSED, CLOSED]),
      truth: {},
      stepsBack: 1,
      isAhead: false,
      jumps: 1,
    },
    actions: (state) => actions.filter((action) => moves[action].can(state)),
    next: ({ broken: _, ...state }, action) => moves[action].make(state),
    broken: (state) => state.broken ?? brokenView(state, afterOf),
  }
}

function turned(state: WindowState, ms: number): WindowState {
  return { ...state, now: state.now + ms }
}

/** The expected answer to a request, and the expected state after it. */
function taken(state: WindowState, cost: number): { readonly isDue: boolean; readonly truth: WindowState['truth'] } {
  const model = modelOf(state)
  const isDue = WINDOWS.every(({ name, lengthMs, limit }) => {
    return (model.open(name, { lengthMs })?.used ?? 0) + cost <= limit
  })
  const truth = truthAfter(state, (after) => {
    for (const { name, lengthMs } of WINDOWS) {
      if (isDue) after.charge(name, { lengthMs }, cost)
      else after.moveToThePresent(name)
    }
  })
  return { isDue, truth }
}

function modelOf({ now, truth }: Pick<WindowState, 'now' | 'truth'>): ModelWindows {
  return new ModelWindows({ now: () => now }, { ...truth })
}

function truthAfter({ now, truth }: WindowState, step: (model: ModelWindows) => void): WindowState['truth'] {
  const after = Object.fromEntries(Object.entries(truth).map(([name, window]) => [name, { ...window }]))
  step(new ModelWindows({ now: () => now }, after))
  return after
}

/** The end of the first open window. */
function nextEnd(state: WindowState): number | undefined {
  const ends = modelOf(state)
    .ends()
    .filter((end) => end > state.now)
  return ends.length === 0 ? undefined : Math.min(...ends)
}

/** Compares a caller's view of the row with the expected one. */
function brokenView(state: WindowState, afterOf: (lengthMs: number, now: number) => number): string | undefined {
  const model = modelOf(state)
  for (const [i, { name, lengthMs }] of WINDOWS.entries()) {
    const seen: number[] = []
    view([...state.cells], 2 * i, afterOf(lengthMs, state.now), state.now, seen, 0)
    const due = model.open(name, { lengthMs })
    const [startedAt = NOT_OPEN, used = 0] = seen
    if (due === undefined && startedAt === NOT_OPEN) continue
    if (due === undefined) return `the ${name} window is open, and ought not to be`
    if (startedAt === NOT_OPEN) return `the ${name} window is lost`
    if (used !== due.used) return `${used} are used of the ${name} window, and ought to be ${due.used}`
    if (startedAt !== due.startedAt) return `the ${name} window began at another time than it ought to`
  }
  return undefined
}
