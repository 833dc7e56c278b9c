/** A small machine whose every state can be looked at. States are plain JSON. */
export interface Machine<State, Action extends string> {
  readonly initial: State
  /** What can happen next. */
  actions(state: State): readonly Action[]
  /** The state after it; the one before is left as it was. */
  next(state: State, action: Action): State
  /** The promise that a state breaks. */
  broken(state: State): string | undefined
}

/** What came of looking at every state. */
export interface Exploration<Action extends string> {
  /** How many different states there were. */
  readonly states: number
  /** The first promise found broken, and one of the shortest histories that break it. */
  readonly broken?: { readonly promise: string; readonly history: readonly Action[] } | undefined
}

/** Looks at every state that some number of actions leads to, the shortest histories first. */
export function explore<State, Action extends string>(
  machine: Machine<State, Action>,
  depth: number,
): Exploration<Action> {
  const seen = new Set([JSON.stringify(machine.initial)])
  let edge: readonly (readonly [State, readonly Action[]])[] = [[machine.initial, []]]
  for (let steps = 0; steps < depth; steps++) {
    const further: [State, readonly Action[]][] = []
    for (const [state, history] of edge) {
      for (const action of machine.actions(state)) {
        const next = machine.next(state, action)
        const name = JSON.stringify(next)
        if (seen.has(name)) continue
        seen.add(name)
        const longer = [...history, action]
        const promise = machine.broken(next)
        if (promise !== undefined) return { states: seen.size, broken: { promise, history: longer } }
        further.push([next, longer])
      }
    }
    edge = further
  }
  return { states: seen.size }
}
