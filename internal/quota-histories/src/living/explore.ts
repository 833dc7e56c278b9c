import { createHash } from 'node:crypto'

/** A small machine whose every state can be checked. States are plain JSON. */
export interface Machine<State, Action extends string> {
  readonly initial: State
  /** The possible next actions. */
  actions(state: State): readonly Action[]
  /** The state after an action. It leaves the given state unchanged. */
  next(state: State, action: Action): State
  /** The promise that a state breaks. */
  broken(state: State): string | undefined
}

/** The result of an exploration. */
export interface Exploration<Action extends string> {
  /** How many different states there were. */
  readonly states: number
  /** How many actions led to them, or to states seen before. */
  readonly steps: number
  /** The first broken promise, and one of the shortest histories that break it. */
  readonly broken?: { readonly promise: string; readonly history: readonly Action[] } | undefined
}

/** How to report progress. */
export interface ExploreOptions {
  onProgress?(states: number, length: number): void
}

/** A history, its last action first. */
interface Path<Action> {
  readonly action: Action
  readonly before: Path<Action> | undefined
}

const PROGRESS_EVERY = 50_000

/** A state, and a shortest history that leads to it. */
type Reached<State, Action> = readonly [state: State, path: Path<Action> | undefined]

/** Checks every state that some number of actions leads to, shortest histories first. */
export function explore<State, Action extends string>(
  machine: Machine<State, Action>,
  depth: number,
  { onProgress }: ExploreOptions = {},
): Exploration<Action> {
  const seen = new Set([nameOf(machine.initial)])
  let steps = 0
  let edge: readonly Reached<State, Action>[] = [[machine.initial, undefined]]
  for (let length = 1; length <= depth; length++) {
    const further: Reached<State, Action>[] = []
    for (const [state, path] of successors(machine, edge)) {
      steps++
      const name = nameOf(state)
      if (seen.has(name)) continue
      seen.add(name)
      if (seen.size % PROGRESS_EVERY === 0) onProgress?.(seen.size, length)
      const promise = machine.broken(state)
      if (promise !== undefined) return { states: seen.size, steps, broken: { promise, history: historyOf(path) } }
      if (length < depth) further.push([state, path])
    }
    edge = further
  }
  return { states: seen.size, steps }
}

/** The states one action further. */
function* successors<State, Action extends string>(
  machine: Machine<State, Action>,
  edge: readonly Reached<State, Action>[],
): Generator<Reached<State, Action>> {
  for (const [state, before] of edge) {
    for (const action of machine.actions(state)) yield [machine.next(state, action), { action, before }]
  }
}

/** For a million states, names need less memory than the states. */
function nameOf(state: unknown): string {
  const text = JSON.stringify(state)
  return text.length < 32 ? text : createHash('sha1').update(text).digest('base64')
}

function historyOf<Action>(path: Path<Action> | undefined): Action[] {
  const history: Action[] = []
  for (let at = path; at !== undefined; at = at.before) history.unshift(at.action)
  return history
}
