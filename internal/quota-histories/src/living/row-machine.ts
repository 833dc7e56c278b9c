import { add, close, refund, roll } from '@scoregw/quota/internal'
import { type ModelSpan, type ModelWindow, ModelWindows } from '@scoregw/quota-testkit/model'
import type { Machine } from './explore.ts'
import { ROW_RULES, type RowRules } from './row-rules.ts'

/** Windows by name, with their lengths in ticks. Each policy has one that the other lacks. */
const LENGTHS: Readonly<Record<string, number>> = { a: 1, b: 2, c: 5 }
const POLICIES = { old: ['a', 'b'], young: ['b', 'c'] } as const
type PolicyName = keyof typeof POLICIES

const CLOSED = -1

/** A window of the row. */
interface Cell {
  readonly start: number
  readonly used: number
}

type Cells = Readonly<Record<string, Cell>>

/** The stored rows, and the expected ones. If both are lost, the rules aren't at fault. */
interface Stored {
  /** By name or by number; absent if the row is gone. */
  readonly row: Cells
  readonly keptUntil: number
  /** Which windows the numbers stand for, if they are assigned. */
  readonly registry: readonly string[]
  /** The model's windows. */
  readonly truth: Readonly<Record<string, ModelWindow>>
}

interface RowState extends Stored {
  readonly now: number
  /** How many steps back the clock may still make. */
  readonly stepsBack: number
  /** The state of the server that takes over. */
  readonly replica: Stored
  /** Starts of each policy's last charge, which it may refund. */
  readonly held: Readonly<Partial<Record<PolicyName, Readonly<Record<string, number>>>>>
  /** The numbers that each process remembers. */
  readonly known: Readonly<Record<PolicyName, Readonly<Record<string, string>>>>
}

type RowAction =
  | `${PolicyName} takes`
  | `${PolicyName} gives back`
  | `${PolicyName} resets`
  | 'time passes'
  | 'the clock steps back'
  | 'the replica catches up'
  | 'the replica takes over'

const ACTIONS: readonly RowAction[] = [
  'old takes',
  'young takes',
  'old gives back',
  'young gives back',
  'old resets',
  'young resets',
  'time passes',
  'the clock steps back',
  'the replica catches up',
  'the replica takes over',
]

const NOTHING: Stored = { row: {}, keptUntil: 0, registry: [], truth: {} }

/** The window if it is open. */
function open(cell: Cell | undefined, name: string, now: number): Cell | undefined {
  const isOpen = cell !== undefined && cell.used !== CLOSED && now < cell.start + (LENGTHS[name] ?? 0)
  return isOpen ? cell : undefined
}

function spanOf(window: string): ModelSpan {
  return { lengthMs: LENGTHS[window] ?? 0 }
}

/** The expected state after a step of the model. */
function truthAfter({ now, truth }: Pick<RowState, 'now' | 'truth'>, step: (model: ModelWindows) => void) {
  const after = Object.fromEntries(Object.entries(truth).map(([name, window]) => [name, { ...window }]))
  step(new ModelWindows({ now: () => now }, after))
  return after
}

/** A cell after one of the stores' functions, which write pairs. */
function after(cell: Cell | undefined, write: (pair: number[]) => void): Cell {
  const pair = [cell?.start ?? CLOSED, cell?.used ?? CLOSED]
  write(pair)
  const [start = CLOSED, used = CLOSED] = pair
  return { start, used }
}

function charged(cell: Cell | undefined, name: string, now: number, start: RowRules['start']): Cell {
  const kept = start === 'now' && open(cell, name, now) === undefined ? undefined : cell
  return after(kept, (pair) => {
    roll(pair, 0, now - (LENGTHS[name] ?? 0), now, now)
    add(pair, 0, 1)
  })
}

function mapCells(cells: Cells, map: (cell: Cell, name: string) => Cell): Cells {
  return Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, map(cell, name)]))
}

const refunded = (cell: Cell): Cell => after(cell, (pair) => refund(pair, 0, cell.start, 1))
const closed = (cell: Cell): Cell => after(cell, (pair) => close(pair, 0))

/** One row that two policies write by the given rules, with the expected state of each window. */
export function rowMachine(left: Partial<RowRules> = {}): Machine<RowState, RowAction> {
  const rules = { ...ROW_RULES, ...left }
  const graceTicks = rules.grace === 'none' ? 0 : 1

  /** A process's name for a window in the row. */
  function nameOf(state: RowState, policy: PolicyName, window: string): string {
    if (rules.name === 'identity') return window
    return state.known[policy][window] ?? String(state.registry.indexOf(window))
  }

  /** Assigns numbers to windows for which a process has none. */
  function knowing(state: RowState, policy: PolicyName): RowState {
    if (rules.name === 'identity') return state
    let { registry } = state
    const known: Record<string, string> = { ...state.known[policy] }
    for (const window of POLICIES[policy]) {
      if (known[window] !== undefined) continue
      if (!registry.includes(window)) registry = [...registry, window]
      known[window] = String(registry.indexOf(window))
    }
    return { ...state, registry, known: { ...state.known, [policy]: known } }
  }

  /** The row after a write by a policy, and how long it is kept. */
  function written(state: RowState, policy: PolicyName, row: Cells): RowState {
    const own = new Set<string>(POLICIES[policy].map((window) => nameOf(state, policy, window)))
    const kept = Object.entries(row).filter(([name]) => own.has(name) || rules.unknown === 'carried')
    const ends = POLICIES[policy].map((window) => {
      const start = row[nameOf(state, policy, window)]?.start
      return start === undefined ? 0 : start + (LENGTHS[window] ?? 0) + graceTicks
    })
    const isNew = Object.keys(state.row).length === 0
    const fresh = Math.max(...ends)
    const keptUntil = {
      'never shortened': Math.max(isNew ? 0 : state.keptUntil, fresh),
      'from own cells alone': fresh,
      'as it was': isNew ? fresh : state.keptUntil,
    }[rules.expiry]
    return { ...state, row: Object.fromEntries(kept), keptUntil }
  }

  function take(before: RowState, policy: PolicyName): RowState {
    const state = knowing(before, policy)
    const { now } = state
    const names = POLICIES[policy].map((window) => [window, nameOf(state, policy, window)] as const)
    const first = state.row[names[0]?.[1] ?? '']
    const row: Record<string, Cell> = { ...state.row }
    for (const [window, name] of names) {
      const cell = row[name]
      const isTrusted = rules.charge === 'of the first cell' && first !== undefined && first.used !== CLOSED
      const seen = isTrusted && cell?.used === CLOSED ? { ...cell, used: 0 } : cell
      row[name] = charged(seen, window, now, rules.start)
    }
    const truth = truthAfter(state, (model) => {
      for (const window of POLICIES[policy]) model.charge(window, spanOf(window), 1)
    })
    const starts = Object.fromEntries(POLICIES[policy].map((window) => [window, truth[window]?.startedAt ?? 0]))
    return written({ ...state, truth, held: { ...state.held, [policy]: starts } }, policy, row)
  }

  function refundOf(state: RowState, policy: PolicyName): RowState {
    const starts = state.held[policy] ?? {}
    const { [policy]: _, ...held } = state.held
    const isHeld = (cell: Cell, window: string): boolean => cell.used !== CLOSED && starts[window] === cell.start
    const windows = Object.fromEntries(POLICIES[policy].map((window) => [nameOf(state, policy, window), window]))
    const row = mapCells(state.row, (cell, name) => (isHeld(cell, windows[name] ?? '') ? refunded(cell) : cell))
    const truth = truthAfter(state, (model) => {
      for (const [window, start] of Object.entries(starts)) model.refund(window, start, 1)
    })
    return written({ ...state, held, truth }, policy, row)
  }

  function reset(before: RowState, policy: PolicyName): RowState {
    const state = knowing(before, policy)
    const own: readonly string[] = POLICIES[policy]
    const names = own.map((window) => nameOf(state, policy, window))
    const truth = truthAfter(state, (model) => {
      for (const window of own) model.close(window)
    })
    const first = state.row[names[0] ?? '']
    if (rules.close === 'by the first cell' && (first === undefined || first.used === CLOSED))
      return { ...state, truth }
    const closes = (name: string): boolean => rules.reset === 'the whole row' || names.includes(name)
    const row = mapCells(state.row, (cell, name) => (closes(name) ? closed(cell) : cell))
    return Object.keys(row).length === 0 ? { ...state, truth } : written({ ...state, truth }, policy, row)
  }

  function turned(state: RowState, ticks: number): RowState {
    const now = state.now + ticks
    const isGone = now >= state.keptUntil
    return { ...state, now, row: isGone ? {} : state.row, keptUntil: isGone ? 0 : state.keptUntil }
  }

  function storedOf({ row, keptUntil, registry, truth }: Stored): Stored {
    return { row, keptUntil, registry, truth }
  }

  function next(state: RowState, action: RowAction): RowState {
    if (action === 'time passes') return turned(state, 1)
    if (action === 'the clock steps back') return { ...turned(state, -1), stepsBack: state.stepsBack - 1 }
    if (action === 'the replica catches up') return { ...state, replica: storedOf(state) }
    if (action === 'the replica takes over') return turned({ ...state, ...state.replica }, 0)
    const [policy, what] = action.split(/ (.*)/) as [PolicyName, string]
    if (what === 'takes') return take(state, policy)
    return what === 'resets' ? reset(state, policy) : refundOf(state, policy)
  }

  function seenBy(state: RowState, policy: PolicyName, window: string): Cell | undefined {
    return open(state.row[nameOf(state, policy, window)], window, state.now)
  }

  function brokenFor(state: RowState, policy: PolicyName, window: string): string | undefined {
    const seen = seenBy(state, policy, window)
    const due = new ModelWindows({ now: () => state.now }, { ...state.truth }).open(window, spanOf(window))
    if (due === undefined && seen === undefined) return undefined
    if (due === undefined) return `window ${window} is open, and ought not to be`
    if (seen === undefined) return `window ${window} is lost`
    if (seen.used !== due.used) return `window ${window} has ${seen.used} used, and ought to have ${due.used}`
    const { startedAt } = due
    return seen.start === startedAt ? undefined : `window ${window} began at ${seen.start} instead of ${startedAt}`
  }

  return {
    initial: {
      ...NOTHING,
      now: 10,
      stepsBack: 1,
      replica: NOTHING,
      held: {},
      known: { old: {}, young: {} },
    },
    actions: (state) =>
      ACTIONS.filter((action) => {
        if (action === 'the clock steps back') return state.stepsBack > 0
        if (action === 'old gives back') return state.held.old !== undefined
        return action !== 'young gives back' || state.held.young !== undefined
      }),
    next,
    broken: (state) =>
      (['old', 'young'] as const)
        .flatMap((policy) => POLICIES[policy].map((window) => brokenFor(state, policy, window)))
        .find((promise) => promise !== undefined),
  }
}
